import { EXAMPLE_KEY, requestExamples } from './examples.js';
import { EXAMPLE_ID } from './invoice-examples.js';
import type { Operation } from './operations.js';

/** One request, as a sample sends it. The key of the API is in the environment variable NFSE_KEY. */
type SampleRequest = {
  method: 'GET' | 'POST';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** JSON with indentation. */
  body?: string;
  /** Name of the file that a download becomes. */
  file?: string;
};

/** A sample of an operation, in the form of the OpenAPI extension `x-codeSamples`. */
export type CodeSample = { lang: string; label: string; source: string };

/** Each language with the functions of its standard library only, so that a sample runs as it is. */
export const codeSamples = (operation: Operation, baseUrl: string): readonly CodeSample[] => {
  const request = requestOf(operation, baseUrl);
  return languages.map(({ lang, label, lines }) => ({ lang, label, source: lines(request).join('\n') }));
};

const requestOf = ({ method, path, operationId, body, success }: Operation, baseUrl: string): SampleRequest => {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  if (operationId === 'issue_nfse') headers['Idempotency-Key'] = EXAMPLE_KEY;
  const query = operationId === 'find_nfse' ? '?reference=pedido-1042' : '';
  const request: SampleRequest = {
    method: method === 'post' ? 'POST' : 'GET',
    url: `${baseUrl}${path.replace('{id}', EXAMPLE_ID)}${query}`,
    headers,
  };
  if (body !== undefined) request.body = JSON.stringify(requestExamples[body], undefined, 2);
  if (success === 'pdf' || success === 'xml') request.file = `nota.${success}`;
  return request;
};

const indented = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);

const curl = ({ url, headers, body, file }: SampleRequest): readonly string[] => {
  const options = [
    `-H "Authorization: Bearer $NFSE_KEY"`,
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${indented(body, 2)}'`]),
    // Without -f curl writes the error to the file and ends with 0. Option --fail-with-body needs curl 7.76.
    ...(file === undefined ? [] : [`-f -o ${file}`]),
  ];
  return [`curl '${url}' \\`, ...options.map((option, at) => `  ${option}${at === options.length - 1 ? '' : ' \\'}`)];
};

const javascript = ({ method, url, headers, body, file }: SampleRequest): readonly string[] => [
  ...(file === undefined ? [] : ["import { writeFile } from 'node:fs/promises';", '']),
  `const resposta = await fetch('${url}', {`,
  `  method: '${method}',`,
  "  redirect: 'error',",
  '  headers: {',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is the sample's.
  '    Authorization: `Bearer ${process.env.NFSE_KEY}`,',
  ...Object.entries(headers).map(([name, value]) => `    '${name}': '${value}',`),
  '  },',
  ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body, 2)}),`]),
  '});',
  'if (!resposta.ok) {',
  '  const { error } = await resposta.json();',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is the sample's.
  '  throw new Error(`${error.code}: ${error.message}`);',
  '}',
  ...(file === undefined
    ? ['console.log(await resposta.json());']
    : [`await writeFile('${file}', Buffer.from(await resposta.arrayBuffer()));`]),
];

const php = ({ url, headers, body, file }: SampleRequest): readonly string[] => [
  '<?php',
  `$pedido = curl_init('${url}');`,
  'curl_setopt_array($pedido, [',
  '    CURLOPT_RETURNTRANSFER => true,',
  '    CURLOPT_HTTPHEADER => [',
  "        'Authorization: Bearer ' . getenv('NFSE_KEY'),",
  ...Object.entries(headers).map(([name, value]) => `        '${name}: ${value}',`),
  '    ],',
  ...(body === undefined ? [] : [`    CURLOPT_POSTFIELDS => <<<'JSON'`, `    ${indented(body, 4)}`, '    JSON,']),
  ']);',
  '$corpo = curl_exec($pedido);',
  '$status = curl_getinfo($pedido, CURLINFO_RESPONSE_CODE);',
  'if ($corpo === false || $status >= 400) {',
  '    throw new RuntimeException((string) $corpo);',
  '}',
  file === undefined ? 'print_r(json_decode($corpo, true));' : `file_put_contents('${file}', $corpo);`,
];

const QUOTES = '"""';

const csharp = ({ method, url, headers, body, file }: SampleRequest): readonly string[] => {
  const own = Object.entries(headers).filter(([name]) => name !== 'Content-Type');
  return [
    'using System.Net.Http.Headers;',
    ...(body === undefined ? [] : ['using System.Text;']),
    '',
    'using var cliente = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false });',
    `using var pedido = new HttpRequestMessage(HttpMethod.${method === 'POST' ? 'Post' : 'Get'}, "${url}");`,
    'pedido.Headers.Authorization = new AuthenticationHeaderValue("Bearer", Environment.GetEnvironmentVariable("NFSE_KEY"));',
    ...own.map(([name, value]) => `pedido.Headers.Add("${name}", "${value}");`),
    ...(body === undefined
      ? []
      : [
          `pedido.Content = new StringContent(${QUOTES}`,
          `    ${indented(body, 4)}`,
          `    ${QUOTES}, Encoding.UTF8, "application/json");`,
        ]),
    'using var resposta = await cliente.SendAsync(pedido);',
    'if (!resposta.IsSuccessStatusCode)',
    '    throw new HttpRequestException(await resposta.Content.ReadAsStringAsync());',
    file === undefined
      ? 'Console.WriteLine(await resposta.Content.ReadAsStringAsync());'
      : `await File.WriteAllBytesAsync("${file}", await resposta.Content.ReadAsByteArrayAsync());`,
  ];
};

const python = ({ method, url, headers, body, file }: SampleRequest): readonly string[] => [
  'import json',
  'import os',
  'import urllib.error',
  'import urllib.request',
  '',
  'pedido = urllib.request.Request(',
  `    "${url}",`,
  `    method="${method}",`,
  ...(Object.keys(headers).length === 0
    ? []
    : ['    headers={', ...Object.entries(headers).map(([name, value]) => `        "${name}": "${value}",`), '    },']),
  ...(body === undefined ? [] : [`    data=json.dumps(${indented(body, 4)}).encode(),`]),
  ')',
  '# Um desvio para outro servidor não leva a chave.',
  'pedido.add_unredirected_header("Authorization", f"Bearer {os.environ[\'NFSE_KEY\']}")',
  'try:',
  '    with urllib.request.urlopen(pedido) as resposta:',
  '        corpo = resposta.read()',
  'except urllib.error.HTTPError as recusa:',
  '    erro = json.load(recusa)["error"]',
  "    raise SystemExit(f\"{erro['code']}: {erro['message']}\")",
  ...(file === undefined
    ? ['print(json.loads(corpo))']
    : [`with open("${file}", "wb") as arquivo:`, '    arquivo.write(corpo)']),
];

const java = ({ method, url, headers, body, file }: SampleRequest): readonly string[] => [
  'import java.net.URI;',
  'import java.net.http.HttpClient;',
  'import java.net.http.HttpRequest;',
  'import java.net.http.HttpResponse;',
  ...(file === undefined ? [] : ['import java.nio.file.Files;', 'import java.nio.file.Path;']),
  '',
  'public class Exemplo {',
  '    public static void main(String[] args) throws Exception {',
  `        var pedido = HttpRequest.newBuilder(URI.create("${url}"))`,
  '            .header("Authorization", "Bearer " + System.getenv("NFSE_KEY"))',
  ...Object.entries(headers).map(([name, value]) => `            .header("${name}", "${value}")`),
  ...(body === undefined
    ? [`            .${method}()`]
    : [
        `            .${method}(HttpRequest.BodyPublishers.ofString(${QUOTES}`,
        `                ${indented(body, 16)}`,
        `                ${QUOTES}))`,
      ]),
  '            .build();',
  '        var resposta = HttpClient.newHttpClient().send(pedido, HttpResponse.BodyHandlers.ofByteArray());',
  '        if (resposta.statusCode() >= 400) throw new RuntimeException(new String(resposta.body(), "UTF-8"));',
  file === undefined
    ? '        System.out.println(new String(resposta.body(), "UTF-8"));'
    : `        Files.write(Path.of("${file}"), resposta.body());`,
  '    }',
  '}',
];

const languages: readonly {
  lang: string;
  label: string;
  lines(request: SampleRequest): readonly string[];
}[] = [
  { lang: 'bash', label: 'curl', lines: curl },
  { lang: 'javascript', label: 'JavaScript', lines: javascript },
  { lang: 'php', label: 'PHP', lines: php },
  { lang: 'csharp', label: 'C#', lines: csharp },
  { lang: 'python', label: 'Python', lines: python },
  { lang: 'java', label: 'Java', lines: java },
];
