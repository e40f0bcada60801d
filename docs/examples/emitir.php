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
/** A linha do serviço vendido, uma das que GET /v1/activities mostra. Sem ela a nota sairia na linha padrão da empresa. */
const LINHA = ['cnae' => '6201501', 'service_code' => '010601'];
define('URL', rtrim(getenv('NFSE_URL') ?: 'http://127.0.0.1:3000', '/'));

/** A recusa da API. repetida: uma tentativa de antes não teve resposta, e pode ter emitido. */
final class Recusado extends RuntimeException
{
    public function __construct(array $erro, public readonly bool $repetida)
    {
        $this->semRota = $erro['code'] === 'route_not_found';
        parent::__construct("{$erro['message']} ({$erro['code']})");
    }

    public readonly bool $semRota;
}

/** O JSON da resposta e os segundos até a próxima pergunta; repete o que pode ser repetido. */
function chamar(string $metodo, string $caminho, ?array $corpo = null, ?string $chave = null, string $objeto = 'nfse'): array
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
        $texto = @file_get_contents(URL . $caminho, false, stream_context_create(['http' => $http]));
        $espera = 3;
        foreach ($http_response_header as $linha) {
            // Um proxy pode mandar uma data no lugar dos segundos.
            if (preg_match('/^Retry-After: *(\d{1,4})\s*$/i', $linha, $achado)) {
                $espera = (int) $achado[1];
            }
        }
        $resposta = json_decode($texto === false ? '' : $texto, true);
        if (($resposta['object'] ?? null) === $objeto) {
            return [$resposta, $espera];
        }
        if (($resposta['error']['retryable'] ?? true) === false) {
            throw new Recusado($resposta['error'], $tentativa > 1);
        }
        // A conexão caiu, ou a API pede para esperar. A nota pode existir: o mesmo pedido de novo, com a mesma chave.
        fwrite(STDERR, "tentativa $tentativa de $metodo $caminho sem resposta: espero $espera s\n");
        sleep($espera);
    }
    terminar(3, 'sem resposta: rode de novo mais tarde, com o mesmo pedido');
}

function terminar(int $codigo, string $aviso): never
{
    fwrite(STDERR, "$aviso\n");
    exit($codigo);
}

/** Uma recusa prova só que este envio não emitiu: um de antes, que ficou sem resposta, pode ter emitido. */
function contarRecusa(string $pedido, Recusado $recusa): never
{
    if ($recusa->semRota) {
        terminar(3, "NFSE_URL não é o endereço da API, corrija e rode de novo com o mesmo pedido: {$recusa->getMessage()}");
    }
    try {
        [$lista] = chamar('GET', '/v1/nfse?' . http_build_query(['reference' => $pedido]), objeto: 'list');
        $notas = $lista['data'];
    } catch (Recusado) {
        $notas = null;
    }
    if ($notas) {
        terminar(2, "recusado, e já há uma nota deste pedido, {$notas[0]['id']} ({$notas[0]['status']}): {$recusa->getMessage()}");
    }
    if ($notas === [] && !$recusa->repetida) {
        terminar(1, "recusado: {$recusa->getMessage()}");
    }
    terminar(3, "recusado, mas a nota de um envio anterior pode existir, rode de novo com o mesmo pedido: {$recusa->getMessage()}");
}

// Um cabeçalho não leva outros caracteres: nenhuma tentativa chegaria à API.
if (!preg_match('/^[!-~]+$/D', (string) getenv('NFSE_KEY'))) {
    terminar(1, 'NFSE_KEY não tem uma chave: copie a chave inteira, sem reticências nem espaços');
}
[$pedido, $centavos] = [$argv[1] ?? 'pedido-2004', $argv[2] ?? '150000'];
if (!preg_match('~^https?://[!-\~]+$~Di', URL)) {
    terminar(1, 'NFSE_URL não é um endereço: começa com http:// ou https://');
}
// (int) leria "1500.50" como 1500 centavos, e a Idempotency-Key só leva ASCII visível.
if (!preg_match('/^[!-~]{1,64}$/D', $pedido) || !preg_match('/^[0-9]{1,16}$/D', $centavos)) {
    terminar(1, 'uso: php emitir.php PEDIDO CENTAVOS, o pedido sem espaços nem acentos, os centavos só com algarismos: 150000 é R$ 1.500,00');
}
$corpo = [
    'amount_in_cents' => (int) $centavos,
    'description' => 'Consultoria em tecnologia',
    'customer' => ['document' => '11222333000181', 'name' => 'CLIENTE FICTICIO COMERCIO LTDA'],
    'reference' => $pedido,
    ...LINHA,
];
try {
    [$nota, $espera] = chamar('POST', '/v1/nfse', $corpo, "$pedido-1");
} catch (Recusado $recusa) {
    contarRecusa($pedido, $recusa);
}
try {
    while (in_array($nota['status'], ['queued', 'processing'], true)) {
        sleep($espera);
        [$nota, $espera] = chamar('GET', "/v1/nfse/{$nota['id']}");
    }
} catch (Recusado $recusa) {
    terminar(3, "aceito como {$nota['id']}, mas a consulta foi recusada, rode de novo com o mesmo pedido: {$recusa->getMessage()}");
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
        terminar(1, "recusada: {$nota['error']['message']}");
    default:
        // indeterminate, ou um status que este programa não conhece: a nota pode existir.
        terminar(2, "não emita de novo: chame o suporte e informe {$nota['id']}");
}
