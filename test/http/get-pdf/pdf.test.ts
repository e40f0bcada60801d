import { downloadStateTests } from '../download-states.js';
import { downloadTests, type Format } from '../download-tests.js';
import { PDF } from '../harness.js';

const pdf: Format = { extension: 'pdf', contentType: 'application/pdf', bytes: PDF };

downloadTests(pdf);
downloadStateTests(pdf);
