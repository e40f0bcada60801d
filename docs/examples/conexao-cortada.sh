#!/usr/bin/env bash
# A receita para uma conexão que cai no meio do POST, só com curl.
#
#     bash docs/examples/conexao-cortada.sh pedido-2002 150000
#
# Depois de uma queda ninguém sabe se a nota nasceu. A saída é repetir o mesmo corpo com a mesma Idempotency-Key até
# chegar uma resposta: a API devolve a nota da primeira vez. Uma chave nova a cada tentativa faria o contrário.
set -euo pipefail
export LC_ALL=C

pedido=${1:-pedido-2002}
centavos=${2:-150000}
url=${NFSE_URL:-http://127.0.0.1:3000}
while [[ $url == */ ]]; do url=${url%/}; done
: "${NFSE_KEY:?falta a chave da API}"
# O pedido entra no JSON e na chave como está, e 1500.00 seria 1500 centavos.
sem_escape='^[]!#-[^-~]{1,64}$'
if [[ ! $pedido =~ $sem_escape || ! $centavos =~ ^[0-9]{1,16}$ ]]; then
  echo 'uso: bash conexao-cortada.sh PEDIDO CENTAVOS, o pedido sem espaços, acentos, aspas nem \, os centavos só com algarismos: 150000 é R$ 1.500,00' >&2
  exit 1
fi
pasta=$(mktemp -d)
trap 'rm -rf "$pasta"' EXIT

# Escreve o status HTTP, ou 000 quando a conexão caiu; o corpo e os cabeçalhos ficam na pasta.
pedir() {
  local status
  : >"$pasta/corpo"
  : >"$pasta/cabecalhos"
  # O curl já sabe o status quando a conexão cai no meio do corpo: só o fim sem erro é uma resposta.
  status=$(curl -s --max-time 30 -o "$pasta/corpo" -D "$pasta/cabecalhos" -w '%{http_code}' \
    -H "Authorization: Bearer $NFSE_KEY" "$@") || status=000
  echo "$status"
}

# O primeiro valor de um campo de texto do corpo.
campo() { grep -o "\"$1\":\"[^\"]*\"" "$pasta/corpo" | head -1 | cut -d '"' -f 4; }

# Os segundos de Retry-After, ou 3: um proxy pode mandar uma data no lugar deles.
espera() { grep -iE '^retry-after: *[0-9]{1,4}[[:space:]]*$' "$pasta/cabecalhos" | head -1 | tr -dc '0-9' || echo 3; }

# Uma recusa prova só que este envio não emitiu: um de antes, que ficou sem resposta, pode ter emitido.
contar_recusa() {
  local recusa
  recusa=$(campo message) || true
  if [[ $(campo code) == route_not_found ]]; then
    echo "NFSE_URL não é o endereço da API, corrija e rode de novo com o mesmo pedido: $recusa" >&2
    exit 3
  fi
  if [[ $(pedir -G "$url/v1/nfse" --data-urlencode "reference=$pedido") == 200 ]]; then
    if id=$(campo id); then
      echo "recusado, e já há uma nota deste pedido, $id ($(campo status)): $recusa" >&2
      exit 2
    fi
    if [[ $tentativa == 1 ]] && grep -q '"data":\[\]' "$pasta/corpo"; then
      echo "recusado: $recusa" >&2
      exit 1
    fi
  fi
  echo "recusado, mas a nota de um envio anterior pode existir, rode de novo com o mesmo pedido: $recusa" >&2
  exit 3
}

e_final() { grep -q '"retryable":false' "$pasta/corpo"; }

# A linha do serviço vendido, uma das que GET /v1/activities mostra. Sem ela a nota sairia na linha padrão da empresa.
linha='"cnae": "6201501", "service_code": "010601"'
corpo="{\"amount_in_cents\": $centavos, \"description\": \"Consultoria em tecnologia\", $linha, \"reference\": \"$pedido\"}"
id=''
for tentativa in 1 2 3 4 5 6; do
  status=$(pedir "$url/v1/nfse" -H 'Content-Type: application/json' -H "Idempotency-Key: $pedido-1" -d "$corpo")
  if [[ $status == 202 ]] && id=$(campo id); then break; fi
  # retryable false: repetir não muda nada.
  if [[ $status != 000 ]] && e_final; then contar_recusa; fi
  echo "tentativa $tentativa: status $status, de novo com a mesma chave" >&2
  sleep "$(espera)"
done
if [[ -z $id ]]; then
  echo "sem resposta: rode de novo mais tarde, com o mesmo pedido" >&2
  exit 3
fi

# Toda nota tem um resultado em 135 minutos.
while ((SECONDS < 8400)); do
  status=$(pedir "$url/v1/nfse/$id")
  if [[ $status == 200 ]]; then
    case $(campo status) in
      # Sem status o corpo não é da API, e não diz nada da nota.
      '' | queued | processing) ;;
      issued) echo "emitida: $(campo access_key)"; exit 0 ;;
      failed) echo "recusada, corrija e emita com outra chave e outra reference: $(campo message)" >&2; exit 1 ;;
      canceled) echo "a nota deste pedido foi emitida e está cancelada: $(campo access_key)"; exit 0 ;;
      *) echo "sem resultado confirmado: não emita de novo, chame o suporte e informe $id" >&2; exit 2 ;;
    esac
  elif [[ $status != 000 ]] && e_final; then
    echo "aceito como $id, mas a consulta foi recusada, rode de novo com o mesmo pedido: $(campo message)" >&2
    exit 3
  fi
  sleep "$(espera)"
done
echo "sem resultado de $id: rode de novo mais tarde, com o mesmo pedido" >&2
exit 3
