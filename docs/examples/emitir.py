"""Emite uma nota e espera o resultado, só com a biblioteca padrão do Python.

    python3 docs/examples/emitir.py pedido-1042 150000

Três regras fazem a repetição segura: a mesma Idempotency-Key em todo envio do mesmo pedido, a espera que Retry-After manda, e nenhuma
emissão nova para uma nota que não terminou em failed.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("NFSE_URL", "http://127.0.0.1:3000")
CHAVE_DA_API = os.environ["NFSE_KEY"]


def chamar(metodo, caminho, corpo=None, chave=None, tentativas=6):
    """O JSON da resposta e os segundos até a próxima pergunta; repete o que pode ser repetido."""
    cabecalhos = {"Authorization": f"Bearer {CHAVE_DA_API}", "Content-Type": "application/json"}
    if chave is not None:
        cabecalhos["Idempotency-Key"] = chave
    dados = None if corpo is None else json.dumps(corpo).encode()
    for tentativa in range(1, tentativas + 1):
        espera = 3
        try:
            pedido = urllib.request.Request(URL + caminho, dados, cabecalhos, method=metodo)
            with urllib.request.urlopen(pedido, timeout=30) as resposta:
                return json.load(resposta), int(resposta.headers.get("Retry-After", 3))
        except urllib.error.HTTPError as recusa:
            espera = int(recusa.headers.get("Retry-After", 3))
            try:
                erro = json.load(recusa)["error"]
            except (ValueError, KeyError):
                erro = {"code": str(recusa.code), "message": "a resposta não é da API", "retryable": True}
            if not erro["retryable"]:
                # Nenhuma nota nasceu deste pedido: corrija-o.
                sys.exit(f"recusado: {erro['message']} ({erro['code']})")
        except (OSError, http.client.HTTPException, ValueError):
            # A conexão caiu. A nota pode existir: o mesmo pedido de novo, com a mesma chave.
            pass
        print(f"tentativa {tentativa} de {metodo} {caminho} sem resposta: espero {espera} s", file=sys.stderr)
        time.sleep(espera)
    print("sem resposta: rode de novo mais tarde, com o mesmo pedido", file=sys.stderr)
    sys.exit(3)


def emitir(pedido, centavos):
    corpo = {
        "amount_in_cents": centavos,
        "description": "Consultoria em tecnologia",
        "customer": {"document": "11222333000181", "name": "CLIENTE FICTICIO COMERCIO LTDA"},
        "reference": pedido,
    }
    nota, espera = chamar("POST", "/v1/nfse", corpo, f"{pedido}-1")
    while nota["status"] in ("queued", "processing"):
        time.sleep(espera)
        nota, espera = chamar("GET", f"/v1/nfse/{nota['id']}")
    return nota


if __name__ == "__main__":
    pedido = sys.argv[1] if len(sys.argv) > 1 else "pedido-1042"
    centavos = sys.argv[2] if len(sys.argv) > 2 else "150000"
    nota = emitir(pedido, int(centavos))
    if nota["status"] == "issued":
        print("emitida:", nota["access_key"])
    elif nota["status"] == "failed":
        # Nada foi emitido. Corrija a causa e emita com outra chave e outra reference.
        sys.exit(f"recusada: {nota['error']['message']}")
    else:
        # indeterminate, ou um status que este programa não conhece: a nota pode existir.
        print(f"não emita de novo: chame o suporte e informe {nota['id']}", file=sys.stderr)
        sys.exit(2)
