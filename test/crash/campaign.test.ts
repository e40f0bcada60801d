import { startEventStoreDouble } from '../support/eventstore-double/double.js';
import { describeWith } from '../support/needs.js';
import { describeWithPostgres } from '../support/postgres.js';
import { type CampaignSize, campaign } from './campaign.js';

const {
  CRASH_FULL,
  CAMPAIGN_INVOICES = '500',
  CAMPAIGN_ENGINES = 'postgres,eventstore',
  CAMPAIGN_SEED = '1',
} = process.env;
const isLong = CRASH_FULL === '1';
const LONG: CampaignSize = { invoices: Number(CAMPAIGN_INVOICES), rounds: { kill: 6, drain: 2, freeze: 1 } };
const seed = Number(CAMPAIGN_SEED);
const engines = CAMPAIGN_ENGINES.split(',');

describeWith('natsServer', 'two processes of each role, ended one after another', () => {
  if (engines.includes('postgres'))
    describeWithPostgres('over all engines', () => {
      campaign('over PostgreSQL and NATS', {
        size: isLong ? LONG : { invoices: 40, rounds: { kill: 1, drain: 1, freeze: 0 } },
        seed,
        series: '900',
      });
    });

  if (engines.includes('eventstore'))
    describeWithPostgres('with the log in EventStoreDB', () => {
      campaign('over EventStoreDB, the double, and NATS', {
        size: isLong ? LONG : { invoices: 40, rounds: { kill: 1, drain: 0, freeze: 0 } },
        seed,
        series: '901',
        openLog: () => startEventStoreDouble(),
      });
    });
});
