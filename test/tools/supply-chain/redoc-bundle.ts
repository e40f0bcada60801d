/** The version whose source map was read for this list. */
export const REDOC = 'redoc@2.5.4';

const MIT: readonly (readonly [string, string])[] = [
  ['redoc', 'Copyright (c) 2015-present, Rebilly, Inc.'],
  ['@babel/runtime', 'Copyright (c) 2014-present Sebastian McKenzie and other contributors'],
  [
    '@emotion/is-prop-valid, @emotion/memoize, @emotion/stylis, @emotion/unitless',
    'Copyright (c) Emotion team and other contributors',
  ],
  ['@redocly/ajv, fast-deep-equal, json-schema-traverse', 'Copyright (c) 2015-2021 Evgeny Poberezkin'],
  ['@redocly/config, @redocly/openapi-core', 'Copyright 2024 Redocly Inc.'],
  ['balanced-match, brace-expansion', 'Copyright (c) 2013 Julian Gruber <julian@juliangruber.com>'],
  ['call-me-maybe', 'Copyright (c) 2015 Eric McCarthy'],
  ['classnames', 'Copyright (c) 2018 Jed Watson'],
  ['clsx', 'Copyright (c) Luke Edwards <luke.edwards05@gmail.com> (lukeed.com)'],
  ['core-js', 'Copyright (c) 2013-2025 Denis Pushkarev (zloirock.ru)'],
  ['css-loader, style-loader', 'Copyright JS Foundation and other contributors'],
  ['decko, unfetch', 'Copyright (c) 2017 Jason Miller'],
  ['eventemitter3', 'Copyright (c) 2014 Arnout Kazemier'],
  ['fast-safe-stringify', 'Copyright (c) 2016 David Mark Clements'],
  [
    'fast-xml-builder, fast-xml-parser, path-expression-matcher, xml-naming',
    'Copyright (c) 2017-2026 Amit Kumar Gupta, Natural Intelligence',
  ],
  ['foreach, json-pointer', 'Copyright (c) 2013-2016 Manuel Stofer'],
  ['js-yaml', 'Copyright (C) 2011-2015 by Vitaly Puzrin'],
  ['lodash.noop', 'Copyright jQuery Foundation and other contributors <https://jquery.org/>'],
  ['lunr', 'Copyright (C) 2013 by Oliver Nightingale'],
  ['mark.js', 'Copyright (c) 2014-2018 Julian Kühnel'],
  ['marked', 'Copyright (c) 2018+, MarkedJS (https://github.com/markedjs/); Copyright (c) 2004, John Gruber'],
  ['mobx, mobx-react, mobx-react-lite', 'Copyright (c) 2015 Michel Weststrate'],
  ['openapi-sampler', 'Copyright (c) 2017 Roman Hotsiy <gotsijroman@gmail.com>'],
  ['path-browserify', 'Copyright (c) 2013 James Halliday'],
  ['perfect-scrollbar', 'Copyright (c) 2012-2019 Hyunje Jun, MDBootstrap.com and other contributors'],
  ['pluralize', 'Copyright (c) 2013 Blake Embrey (hello@blakeembrey.com)'],
  ['polished', 'Copyright (c) 2016-Present Brian Hough and Maximilian Stoiber'],
  ['prismjs', 'Copyright (c) 2012 Lea Verou'],
  [
    'prop-types, react, react-dom, react-is, scheduler, use-sync-external-store',
    'Copyright (c) Meta Platforms, Inc. and affiliates.',
  ],
  ['react-tabs', 'Copyright (c) Matt Zabriskie and Daniel Tschinder'],
  ['shallowequal', 'Copyright (c) 2017 Alberto Leal'],
  ['slugify', 'Copyright (c) Simeon Velichkov <simeonvelichkov@gmail.com>'],
  ['stickyfill', 'Copyright (c) 2014 Oleg Korsunsky'],
  ['styled-components', 'Copyright (c) 2016-present Glen Maddern and Maximilian Stoiber'],
  ['uri-js-replace', 'Copyright 2025 andreinwald'],
];

const BSD: readonly (readonly [string, string])[] = [
  ['hoist-non-react-statics', 'Copyright (c) 2015, Yahoo! Inc.'],
  ['oas-kit-common, oas-resolver, oas-schema-walker, swagger2openapi', 'Copyright (c) 2016, Mermade Software'],
  ['reftools', 'Copyright (c) 2017, Mike Ralphson'],
  ['url-template', 'Copyright (c) 2012-2014, Bram Stein'],
];

type Bundled = { name: string; licence: string; copyright: string };

const under = (licence: string, entries: readonly (readonly [string, string])[]): readonly Bundled[] =>
  entries.map(([name, copyright]) => ({ name, licence, copyright }));

/** What the one served file of the package `redoc` holds, which is a development package: the build copies the file. */
export const REDOC_BUNDLE: readonly Bundled[] = [
  ...under('MIT', MIT),
  ...under('BSD-3-Clause', BSD),
  ...under('ISC', [['minimatch', 'Copyright (c) 2011-2023 Isaac Z. Schlueter and Contributors']]),
  ...under('Apache-2.0', [['DOMPurify', 'Copyright (c) Cure53 and other contributors']]),
];
