/** What is typed after `nfse`, and in Markdown what is printed or what happens. */
type CommandExample = readonly [typed: string, answers: string];

/** In the order of the commands, which each have at least one; a test has the program itself read what is typed. */
export const commandExamples: readonly CommandExample[] = [
  ['serve --role api,projector', 'log lines until SIGTERM'],
  ['simulator', '`{…"msg":"ready","simulator":{…},"simulator_control_url":"http://127.0.0.1:36999"}`'],
  ['demo', 'one invoice from request to cancellation: [first steps](first-steps.md#the-demo)'],
  ['demo --lost-answer', 'one invoice whose answer is lost, and the look-up that finds its note'],
  [
    'company put --template',
    'an example file to change; what each field means goes to stderr: [files](operations/files.md)',
  ],
  ['company put empresa.json --check', '`empresa.json is a valid company file of 11444777000161; nothing was changed`'],
  [
    'company put empresa.json',
    '`company 11444777000161 recorded; next DPS number: live 1 of series 1, test 1 of series 1`',
  ],
  ['company show 11444777000161', 'the company file as JSON, with switch, certificate dates and number of keys'],
  ['company list', '`12345678000195  enabled   ESTUDIO EXEMPLO LTDA`'],
  ['company enable 11444777000161', '`company 11444777000161 enabled`'],
  ['company disable 11444777000161', '`company 11444777000161 disabled`'],
  [
    'company usage 11444777000161 --month 2026-11',
    'accepted, issued, failed and canceled by mode; live is what is billed',
  ],
  [
    'certificate put 11444777000161 --pfx oficina.pfx --password-file senha.txt',
    '`certificate stored for 11444777000161, valid until 2027-11-21T10:13:37.000Z`',
  ],
  [
    'certificate remove 11444777000161 --replaced',
    '`2 replaced certificates of 11444777000161 removed; backups made before still hold what was removed`',
  ],
  ['certificate issue-demo 11444777000161', 'the same, for a certificate that only the simulator accepts'],
  ['key create 11444777000161 --mode test --scope nfse:read', 'the key, shown once, and its id'],
  [
    'key list 11444777000161',
    '`key_3da57f38-…  test  nfse:read nfse:write  2026-11-21T10:08:00.500Z  used 2026-11-21T12h`',
  ],
  ['key revoke key_3da57f38-…', '`key key_3da57f38-… revoked`'],
  ['key revoke -', 'asks for the line with the key, or its id, on stdin: a key that got out is revoked without its id'],
  ['catalog import cabelo.tsv', '`1 line of 1 CNAE on record, 1 CNAE changed`'],
  ['catalog export', 'every line in force, tab-separated'],
  ['municipality set 3550308 --requires-customer on', '`São Paulo/SP recorded`'],
  ['municipality show 3550308', 'what is recorded and what the national system says'],
  ['registry put clientes.json', '`1 entry in the file, 1 changed`'],
  ['api off --reason manutenção', '`the API is off`: every route under `/v1` answers 503 within 2 s'],
  ['api on', 'opens the API again'],
  ['invoice import antigas.ndjson --check', '`1 invoice to import, 0 were there already; nothing was changed`'],
  ['invoice import antigas.ndjson', '`1 invoice imported, 0 were there already`'],
  [
    'events show company-12345678000195',
    'revision, time, type and actor of each event; `--json` gives data and metadata',
  ],
  ['events tail --follow', 'the last events of the log, then new ones as they come'],
  ['events search --type Authorized --since 2026-11-21', 'events by type, company, time and actor, page by page'],
  ['events export --out log.ndjson.gz', 'the log and its signed manifest: [audit](operations/audit.md)'],
  [
    'invoice timeline nfse_1509e366-…',
    'what happened to the invoice: [first steps](first-steps.md#what-happened-to-an-invoice)',
  ],
  ['invoice search nfse_1509e366-…', 'invoices by id, reference, access key or DPS id'],
  ['invoice search 148 --company 12345678000195', 'the notes of a company with this number'],
  [
    'invoice search - --by document',
    'asks for the line with the customer document on stdin, where no list of processes shows it; the search is recorded',
  ],
  ['invoice indeterminate', 'what waits for support, oldest first'],
  [
    'invoice resolve nfse_1509e366-… --as issued --evidence portal',
    '`nfse_1509e366-… is settled as issued, access key 3304…`: only by what the authorizer holds',
  ],
  [
    'invoice resolve nfse_1509e366-… --as failed --evidence -',
    'asks for the line with the evidence on stdin, where no list of processes shows it',
  ],
  ['invoice show nfse_1509e366-…', 'the invoice body as the API shows it now, customer in clear: this is recorded'],
  [
    'invoice list --status failed --company 12345678000195 --since 2026-11-21',
    '`2026-11-21T10:13:37.000Z  nfse_1509e366-…  12345678000195  live  failed`, newest first',
  ],
  [
    'invoice list --company 11444777000161 --mode live --month 2026-11 --limit 1000',
    'the invoices of the month in Brasília, which `company usage` counts; `--before` continues the list',
  ],
  [
    'invoice waiting',
    'what waits for support: indeterminate invoices, failed live cancellations, stopped series, parked work, each with the next command',
  ],
  ['audit verify', '`16 events in 4 streams, 1 anchor: nothing is wrong`'],
  ['audit verify --file log.ndjson.gz --public-key ed25519:…', 'the same of an export, without the service'],
  ['audit replay nfse_1509e366-… --at 2026-11-21T12:00:00Z', 'the invoice body as the API would have shown it then'],
  [
    'privacy report -',
    'takes the document from stdin, where no list of processes shows it, and says where it is stored, why and until when: [retention](operations/retention.md)',
  ],
  [
    'privacy report - --company 12345678000195',
    'the same of the invoices of one company, which answers for its own customers',
  ],
  ['projections status', '`invoices         v5 generation 1 at 17, 0 s behind`'],
  [
    'projections rebuild invoices',
    '`invoices: generation 2 of version 5 is live (11 events folded)`: [rebuild](operations/rebuild.md)',
  ],
  [
    'projections rebuild --all --log 8f0c2a6e-…',
    'the rows made from this log, named by its identity, although they are of [another one](operations/rebuild.md#another-log)',
  ],
  ['projections rollback invoices', '`invoices: generation 1 of version 5 is live (0 events folded)`'],
  [
    'master-key status',
    '`m2   5f0c6f0e6f4c4a5e  seals; 3 certificates, 8 day keys and 1 signing key are under it; since 2026-…`',
  ],
  [
    'master-key rotate --actor ana',
    '`m2 seals from now on; 12 certificates and keys were re-sealed with it. Keep the older generations permanently: …`',
  ],
  [
    'master-key add .data/master.key',
    '`m2 was added to .data/master.key: copy the file …, then nfse master-key rotate`',
  ],
  ['parked list', 'time, kind, invoice and reason of each piece of work that waits for you'],
  ['parked retry --all', '`1 invoice tried again within seconds`'],
  [
    'backup --out backup-2026-11-21',
    'a copy of the embedded database, made while it runs: [backup](operations/backup.md)',
  ],
  ['doctor', 'one line per check, for example `ok   certificate 11444777000161 364 days left`'],
  ['doctor --reconcile', 'after a restore: compares the log with the authorizer, then issuing resumes'],
  [
    'doctor --reconcile --from 11444777000161:live:1:1000',
    'the same, also from the number on that a company file got [after the backup](operations/backup.md#what-changed-after-the-backup)',
  ],
  [
    'doctor --reconcile --without-authorizer live --without-authorizer test',
    'in a [rehearsal](operations/backup.md#rehearse): no authorizer is asked, and issuing resumes',
  ],
  [
    'doctor --reconcile --without-company 11444777000161',
    'the same without a disabled company that [cannot be compared](operations/backup.md#a-company-that-cannot-be-compared)',
  ],
  ['restore --from backup-2026-11-21', 'puts the backup back: [backup](operations/backup.md)'],
  [
    'master-key give-up m1 --reason TEXT --confirm m1',
    '`m1 is given up, m2 seals from now on`, when [no copy is left](operations/keys.md#no-copy-of-the-master-key-is-left)',
  ],
  ['setup secrets .data/secrets', '`made: nfse/master.key, …`: the secrets of `compose.yaml` that are missing'],
  [
    'setup eventstore --admin-password-file admin.txt',
    '`the user of EVENTSTORE_URL is made and may read the whole log`',
  ],
  [
    'setup database --admin-url-file admin-url',
    'the [roles](operations/postgresql.md#roles) of the database, their rights and the schema’s steps',
  ],
  ['completion bash', 'a script: `source <(nfse completion bash)`'],
];

/** What can be typed for a command, for its help. */
export const examplesOf = (name: string): readonly string[] =>
  commandExamples.map(([typed]) => typed).filter((typed) => `${typed} `.startsWith(`${name} `));
