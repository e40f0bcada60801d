"""Emite uma nota e espera o resultado, só com a biblioteca padrão do Python.

    python3 docs/examples/emitir.py pedido-2003 150000

Três regras fazem a repetição segura: a mesma Idempotency-Key em todo envio do mesmo pedido, a espera que Retry-After manda, e nenhuma
emissão nova para uma nota que não terminou em failed.
"""

import http.client
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

URL = (os.environ.get("NFSE_URL") or "http://127.0.0.1:3000").rstrip("/")
CHAVE_DA_API = os.environ.get("NFSE_KEY", "")

# A linha do serviço vendido, uma das que GET /v1/activities mostra. Sem ela a nota sairia na linha padrão da empresa.
LINHA = {"cnae": "6201501", "service_code": "010601"}


class SemDesvio(urllib.request.HTTPRedirectHandler):
    """Um desvio levaria a chave e a resposta a outro servidor: ele conta como resposta que não é da API."""

    def redirect_request(self, req, fp, code, msg, headers, newurl):
        return None


ABRIDOR = urllib.request.build_opener(SemDesvio)


def segundos(cabecalhos):
    """Os segundos de Retry-After, ou 3: um proxy pode mandar uma data no lugar deles."""
    valor = cabecalhos.get("Retry-After", "").strip()
    return int(valor) if re.fullmatch("[0-9]{1,4}", valor) else 3


class Recusado(Exception):
    """A recusa da API. e_repeticao: uma tentativa de antes não teve resposta, e pode ter emitido."""

    def __init__(self, erro, e_repeticao):
        super().__init__(f"{erro['message']} ({erro['code']})")
        self.sem_rota = erro["code"] == "route_not_found"
        self.e_repeticao = e_repeticao


def chamar(metodo, caminho, corpo=None, chave=None, objeto="nfse", tentativas=6):
    """O JSON da resposta e os segundos até a próxima pergunta; repete o que pode ser repetido."""
    cabecalhos = {"Authorization": f"Bearer {CHAVE_DA_API}", "Content-Type": "application/json"}
    if chave is not None:
        cabecalhos["Idempotency-Key"] = chave
    dados = None if corpo is None else json.dumps(corpo).encode()
    for tentativa in range(1, tentativas + 1):
        espera = 3
        try:
            pedido = urllib.request.Request(URL + caminho, dados, cabecalhos, method=metodo)
            with ABRIDOR.open(pedido, timeout=30) as resposta:
                espera = segundos(resposta.headers)
                nota = json.load(resposta)
                if isinstance(nota, dict) and nota.get("object") == objeto:
                    return nota, espera
        except urllib.error.HTTPError as recusa:
            espera = segundos(recusa.headers)
            try:
                erro = json.load(recusa)["error"]
                definitiva = erro["retryable"] is False
            except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
                # Um proxy pode responder sem o error da API: isso não diz nada da nota.
                definitiva = False
            if definitiva:
                raise Recusado(erro, tentativa > 1)
        except (OSError, http.client.HTTPException, ValueError):
            # A conexão caiu. A nota pode existir: o mesmo pedido de novo, com a mesma chave.
            pass
        print(f"tentativa {tentativa} de {metodo} {caminho} sem resposta: espero {espera} s", file=sys.stderr)
        time.sleep(espera)
    print("sem resposta: rode de novo mais tarde, com o mesmo pedido", file=sys.stderr)
    sys.exit(3)


def contar_recusa(pedido, recusa):
    """Uma recusa prova só que este envio não emitiu: um de antes, que ficou sem resposta, pode ter emitido."""
    if recusa.sem_rota:
        print(f"NFSE_URL não é o endereço da API, corrija e rode de novo com o mesmo pedido: {recusa}", file=sys.stderr)
        sys.exit(3)
    try:
        busca = "/v1/nfse?" + urllib.parse.urlencode({"reference": pedido})
        lista, _ = chamar("GET", busca, objeto="list")
        notas = lista["data"]
    except Recusado:
        notas = None
    if notas:
        nota = notas[0]
        print(f"recusado, e já há uma nota deste pedido, {nota['id']} ({nota['status']}): {recusa}", file=sys.stderr)
        sys.exit(2)
    if notas == [] and not recusa.e_repeticao:
        sys.exit(f"recusado: {recusa}")
    print(
        f"recusado, mas a nota de um envio anterior pode existir, rode de novo com o mesmo pedido: {recusa}",
        file=sys.stderr,
    )
    sys.exit(3)


def emitir(pedido, centavos):
    corpo = {
        "amount_in_cents": centavos,
        "description": "Consultoria em tecnologia",
        **LINHA,
        "customer": {"document": "11222333000181", "name": "CLIENTE FICTICIO COMERCIO LTDA"},
        "reference": pedido,
    }
    try:
        nota, espera = chamar("POST", "/v1/nfse", corpo, f"{pedido}-1")
    except Recusado as recusa:
        contar_recusa(pedido, recusa)
    while nota["status"] in ("queued", "processing"):
        time.sleep(espera)
        try:
            nota, espera = chamar("GET", f"/v1/nfse/{nota['id']}")
        except Recusado as recusa:
            print(
                f"aceito como {nota['id']}, mas a consulta foi recusada, rode de novo com o mesmo pedido: {recusa}",
                file=sys.stderr,
            )
            sys.exit(3)
    return nota


if __name__ == "__main__":
    if not re.fullmatch("[!-~]+", CHAVE_DA_API):
        # Um cabeçalho não leva outros caracteres: nenhuma tentativa chegaria à API.
        sys.exit("NFSE_KEY não tem uma chave: copie a chave inteira, sem reticências nem espaços")
    if not re.fullmatch("https?://[!-~]+", URL, re.IGNORECASE):
        sys.exit("NFSE_URL não é um endereço: começa com http:// ou https://")
    pedido = sys.argv[1] if len(sys.argv) > 1 else "pedido-2003"
    centavos = sys.argv[2] if len(sys.argv) > 2 else "150000"
    # int leria "1_500" como 1500 centavos, e a Idempotency-Key só leva ASCII visível.
    if not re.fullmatch("[!-~]{1,64}", pedido) or not re.fullmatch("[0-9]{1,16}", centavos):
        sys.exit(
            "uso: python3 emitir.py PEDIDO CENTAVOS, o pedido sem espaços nem acentos, "
            "os centavos só com algarismos: 150000 é R$ 1.500,00"
        )
    nota = emitir(pedido, int(centavos))
    if nota["status"] == "issued":
        print("emitida:", nota["access_key"])
    elif nota["status"] == "failed":
        # Nada foi emitido. Corrija a causa e emita com outra chave e outra reference.
        sys.exit(f"recusada: {nota['error']['message']}")
    elif nota["status"] == "canceled":
        print("a nota deste pedido foi emitida e está cancelada:", nota["access_key"])
    else:
        # indeterminate, ou um status que este programa não conhece: a nota pode existir.
        print(f"não emita de novo: chame o suporte e informe {nota['id']}", file=sys.stderr)
        sys.exit(2)
