import { downloadStateTests } from '../download-states.js';
import { downloadTests, type Format } from '../download-tests.js';
import { XML } from '../harness.js';

const xml: Format = { extension: 'xml', contentType: 'application/xml', bytes: XML };

downloadTests(xml);
downloadStateTests(xml);
