#!/usr/bin/env bash
# A receita para uma conexão que cai no meio do POST, só com curl.
#
#     bash docs/examples/conexao-cortada.sh pedido-2002 150000
#
# Depois de uma queda ninguém sabe se a nota nasceu. A saída é repetir o mesmo corpo com a mesma Idempotency-Key até
# chegar uma resposta: a API devolve a nota da primeira vez. Uma chave nova a cada tentativa faria o contrário.
set -euo pipefail

pedido=${1:-pedido-2002}
centavos=${2:-150000}
url=${NFSE_URL:-http://127.0.0.1:3000}
: "${NFSE_KEY:?falta a chave da API}"
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

corpo="{\"amount_in_cents\": $centavos, \"description\": \"Consultoria\", \"reference\": \"$pedido\"}"
id=''
for tentativa in 1 2 3 4 5 6; do
  status=$(pedir "$url/v1/nfse" -H 'Content-Type: application/json' -H "Idempotency-Key: $pedido-1" -d "$corpo")
  if [[ $status == 202 ]] && id=$(campo id); then break; fi
  # 4xx com retryable false: nenhuma nota nasceu, e repetir não muda nada.
  if [[ $status != 000 ]] && grep -q '"retryable":false' "$pasta/corpo"; then
    echo "recusado: $(campo message)" >&2
    exit 1
  fi
  echo "tentativa $tentativa: status $status, de novo com a mesma chave" >&2
  sleep "$(espera)"
done
if [[ -z $id ]]; then
  echo "sem resposta: rode de novo mais tarde, com o mesmo pedido" >&2
  exit 3
fi

while :; do
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
  fi
  sleep "$(espera)"
done
