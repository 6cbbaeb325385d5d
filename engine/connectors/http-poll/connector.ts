/** Any HTTP API that answers with JSON (SPEC.md, Sources and labels: connector-specific facts, http_poll). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { HttpPollConfig } from '../../../schemas/types.ts'
import type { PollConnector } from '../connector.ts'
import { discoverApi } from './discover.ts'
import { compileMapping, mappedFields } from './mapping.ts'
import { pollOnce } from './poll.ts'
import { requestFaults } from './request.ts'

export const httpPoll: PollConnector = {
  kind: 'http_poll',
  label: 'HTTP API',
  mode: 'poll',
  description:
    'Any HTTP API that answers with JSON: it is asked at each interval, and each entry of its answer becomes an event. With an id field an entry is stored once.',
  sourceType: 'event_stream',
  configSchema: 'connector-http-poll.json',
  provides: [],
  suggestedPoll: '1m',
  minPollMs: 10_000,
  identity: ['url', 'method', 'body', 'payload_key', 'id_field'],
  validate: (config: FieldsOf<HttpPollConfig>) => requestFaults(config),
  compile: (config: FieldsOf<HttpPollConfig>) => compileMapping(config),
  fields: (config: FieldsOf<HttpPollConfig>) => mappedFields(config),
  discover: discoverApi,
  poll: (config: FieldsOf<HttpPollConfig>, cursor, reach) => pollOnce(config, cursor, reach),
}
