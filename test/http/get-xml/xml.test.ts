import { downloadTests } from '../download-tests.js';
import { XML } from '../harness.js';

downloadTests({ extension: 'xml', contentType: 'application/xml', bytes: XML });
