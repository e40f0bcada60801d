<?php
/*
 * Emite uma nota e espera o resultado, em PHP sem nenhuma extensão.
 *
 *     php docs/examples/emitir.php pedido-2004 150000
 *
 * Três regras fazem a repetição segura: a mesma Idempotency-Key em todo envio do mesmo pedido, a espera que Retry-After manda, e nenhuma
 * emissão nova para uma nota que não terminou em failed.
 */
declare(strict_types=1);

const TENTATIVAS = 6;

/** O JSON da resposta e os segundos até a próxima pergunta; repete o que pode ser repetido. */
function chamar(string $metodo, string $caminho, ?array $corpo = null, ?string $chave = null): array
{
    $cabecalhos = ['Authorization: Bearer ' . getenv('NFSE_KEY'), 'Content-Type: application/json'];
    if ($chave !== null) {
        $cabecalhos[] = "Idempotency-Key: $chave";
    }
    $http = ['method' => $metodo, 'header' => $cabecalhos, 'ignore_errors' => true, 'timeout' => 30, 'follow_location' => 0];
    if ($corpo !== null) {
        $http['content'] = json_encode($corpo, JSON_THROW_ON_ERROR);
    }
    for ($tentativa = 1; $tentativa <= TENTATIVAS; $tentativa++) {
        $http_response_header = [];
        $texto = @file_get_contents((getenv('NFSE_URL') ?: 'http://127.0.0.1:3000') . $caminho, false, stream_context_create(['http' => $http]));
        $espera = 3;
        foreach ($http_response_header as $linha) {
            // Um proxy pode mandar uma data no lugar dos segundos.
            if (preg_match('/^Retry-After: *(\d{1,4})\s*$/i', $linha, $achado)) {
                $espera = (int) $achado[1];
            }
        }
        $resposta = json_decode($texto === false ? '' : $texto, true);
        if (($resposta['object'] ?? null) === 'nfse') {
            return [$resposta, $espera];
        }
        if (($resposta['error']['retryable'] ?? true) === false) {
            // Nenhuma nota nasceu deste pedido: corrija-o.
            fwrite(STDERR, "recusado: {$resposta['error']['message']} ({$resposta['error']['code']})\n");
            exit(1);
        }
        // A conexão caiu, ou a API pede para esperar. A nota pode existir: o mesmo pedido de novo, com a mesma chave.
        fwrite(STDERR, "tentativa $tentativa de $metodo $caminho sem resposta: espero $espera s\n");
        sleep($espera);
    }
    fwrite(STDERR, "sem resposta: rode de novo mais tarde, com o mesmo pedido\n");
    exit(3);
}

[$pedido, $centavos] = [$argv[1] ?? 'pedido-2004', (int) ($argv[2] ?? 150000)];
$corpo = [
    'amount_in_cents' => $centavos,
    'description' => 'Consultoria em tecnologia',
    'customer' => ['document' => '11222333000181', 'name' => 'CLIENTE FICTICIO COMERCIO LTDA'],
    'reference' => $pedido,
];
[$nota, $espera] = chamar('POST', '/v1/nfse', $corpo, "$pedido-1");
while (in_array($nota['status'], ['queued', 'processing'], true)) {
    sleep($espera);
    [$nota, $espera] = chamar('GET', "/v1/nfse/{$nota['id']}");
}

switch ($nota['status']) {
    case 'issued':
        echo "emitida: {$nota['access_key']}\n";
        break;
    case 'canceled':
        echo "a nota deste pedido foi emitida e está cancelada: {$nota['access_key']}\n";
        break;
    case 'failed':
        // Nada foi emitido. Corrija a causa e emita com outra chave e outra reference.
        fwrite(STDERR, "recusada: {$nota['error']['message']}\n");
        exit(1);
    default:
        // indeterminate, ou um status que este programa não conhece: a nota pode existir.
        fwrite(STDERR, "não emita de novo: chame o suporte e informe {$nota['id']}\n");
        exit(2);
}
