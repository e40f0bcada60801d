import { downloadTests, type Format } from '../../contracts/download.js';
import { downloadStateTests } from '../../contracts/download-states.js';
import { PDF } from '../../support/harness/http.js';

const pdf: Format = { extension: 'pdf', contentType: 'application/pdf', bytes: PDF };

downloadTests(pdf);
downloadStateTests(pdf);
