import { downloadTests, type Format } from '../../contracts/download.js';
import { downloadStateTests } from '../../contracts/download-states.js';
import { XML } from '../../support/harness/http.js';

const xml: Format = { extension: 'xml', contentType: 'application/xml', bytes: XML };

downloadTests(xml);
downloadStateTests(xml);
