import { downloadTests } from '../download-tests.js';
import { PDF } from '../harness.js';

downloadTests({ extension: 'pdf', contentType: 'application/pdf', bytes: PDF });
