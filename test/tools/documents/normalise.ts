/** Values that differ from run to run, and what the documents show in their place. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\r/g, ''],
  // The demo's stopwatch: time since the start, time since the line before.
  [/^ *\d+\.\d\d s +\+\d+ ms {2}/gm, ''],
  [/^service stopped\n?/gm, ''],
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:3000'],
  [/req_[0-9a-f-]{36}/g, 'req_d566b4b4-21a3-49f5-8f76-78d5d0a39502'],
  [/key_[0-9a-f]{8}\b/g, 'key_f0c91120'],
  // The month, the authorizer's random number and the check digit end an access key.
  [/(3304557\d{29})\d{14}/g, '$126117803003196'],
  [/([?&]t=)[\w.-]+/g, '$1t1234…'],
  [/^(Date: ).*$/gm, '$1Sat, 21 Nov 2026 10:07:49 GMT'],
  [/^(Content-Length: )\d+/gm, '$1432'],
  [/(RateLimit-Reset: )\d+/gi, '$160'],
  [/\/\S+\/out\//g, '…/out/'],
  [/(nfse\.xml \()\d+/g, '$1…'],
  [/(nfse\.pdf \()\d+/g, '$1…'],
  [/\d+ events in \d+ streams/g, '… events in … streams'],
  [
    /(?:janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro) de \d{4}/g,
    'novembro de 2026',
  ],
  [/"competence":"[\d-]+"/g, '"competence":"2026-11-21"'],
  [/"created_at":"[^"]+"/g, '"created_at":"2026-11-21T10:07:49.609Z"'],
  [/"issued_at":"[^"]+"/g, '"issued_at":"2026-11-21T10:07:49.000Z"'],
  [/"cancelable_until":"[^"]+"/g, '"cancelable_until":"2026-12-01T02:59:59.000Z"'],
  [/"requested_at":"[^"]+"/g, '"requested_at":"2026-11-21T10:07:51.873Z"'],
  [/(canceled )\d{4}-\S+Z/g, '$12026-11-21T10:06:18.000Z'],
];

/** Output as the documents show it: the same after each run. */
export const normalised = (output: string): string => {
  const steady = VOLATILE.reduce((text, [pattern, shown]) => text.replaceAll(pattern, shown), output);
  let events = 0;
  // Each line of a timeline gets a second of its own.
  const timed = steady.replaceAll(/^\d{4}-\d\d-\d\dT[\d:.]+Z/gm, () => {
    events += 1;
    return `2026-11-21T10:06:${String(13 + events).padStart(2, '0')}.155Z`;
  });
  return timed.replaceAll(/[ \t]+$/gm, '').trim();
};

/** Only these members of each line of JSON, comma-separated; every line as it is without them. */
export const selected = (output: string, fields: string | undefined): string => {
  if (fields === undefined) return output;
  const names = fields.split(',');
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const body = JSON.parse(line) as Record<string, unknown>;
      return JSON.stringify(Object.fromEntries(names.flatMap((name) => (name in body ? [[name, body[name]]] : []))));
    })
    .join('\n');
};
