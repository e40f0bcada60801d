import { parentPort } from 'node:worker_threads';
import { type EventPage, examinePage } from '../../app/audit/examiner.js';

/** Entry of the thread in which `nfse audit verify` examines pages of the log. */
parentPort?.on('message', (page: EventPage) => parentPort?.postMessage(examinePage(page)));
