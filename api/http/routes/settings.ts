/** Model providers, prices, bounds of agents and their tracing (SPEC.md, Model providers; Outbound 6); what models were used for. */
import type { FastifyInstance } from 'fastify'
import type {
  AgentSettingsWrite,
  PricesWrite,
  ProviderDefault,
  ProviderTest,
  ProviderWrite,
  TracingWrite,
} from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body, fields, optionalBody } from '../validate.ts'
import { describe } from './route.ts'

type Of = { Params: { id: string } }
const TAG = 'settings'
const DAYS = { querystring: fields({ days: { type: 'integer', minimum: 1, maximum: 366, default: 30 } }) }

export function settingsRoutes(app: FastifyInstance, { engine }: Doors): void {
  app.get(
    '/api/settings/providers',
    describe(TAG, 'listModelProviders', 'List model providers', 200, 'model-providers-result.json'),
    async () => engine.listModelProviders(),
  )
  app.put<{ Body: ProviderDefault }>(
    '/api/settings/providers/default',
    describe(TAG, 'chooseModelProvider', 'Choose the default provider', 200, 'model-providers-result.json', {
      body: body('request-provider-default.json'),
    }),
    async (request) => engine.chooseModelProvider(request.body.id),
  )
  app.put<Of & { Body: ProviderWrite }>(
    '/api/settings/providers/:id',
    describe(
      TAG,
      'saveModelProvider',
      'Make a provider (id new) or change one, and list its models',
      200,
      'model-provider-saved.json',
      { body: body('request-provider-write.json') },
    ),
    async (request) => engine.saveModelProvider(request.params.id, request.body),
  )
  app.delete<Of>(
    '/api/settings/providers/:id',
    describe(
      TAG,
      'removeModelProvider',
      'Forget what is stored of a provider; the environment holds again',
      200,
      'model-providers-result.json',
    ),
    async ({ params }) => engine.removeModelProvider(params.id),
  )
  app.post<Of>(
    '/api/settings/providers/:id/models',
    describe(TAG, 'discoverModels', 'Ask a provider for its models', 200, 'model-provider-saved.json'),
    async ({ params }) => engine.discoverModels(params.id),
  )
  app.post<Of & { Body: ProviderTest | undefined }>(
    '/api/settings/providers/:id/test',
    describe(
      TAG,
      'testModelProvider',
      'Make one small call, and say what to look at where it fails',
      200,
      'model-provider-tested.json',
      { body: optionalBody('request-provider-test.json') },
    ),
    async (request) => engine.testModelProvider(request.params.id, request.body?.model ?? ''),
  )
  app.get(
    '/api/settings/prices',
    describe(TAG, 'getModelPrices', 'Prices of models', 200, 'model-prices.json'),
    async () => engine.modelPrices(),
  )
  app.put<{ Body: PricesWrite }>(
    '/api/settings/prices',
    describe(TAG, 'saveModelPrices', 'Replace the own prices', 200, 'model-prices.json', {
      body: body('request-prices-write.json'),
    }),
    async (request) => engine.saveModelPrices(request.body),
  )
  app.get(
    '/api/settings/agents',
    describe(TAG, 'getAgentSettings', 'Bounds of agents', 200, 'agent-settings.json'),
    async () => engine.agentSettings(),
  )
  app.put<{ Body: AgentSettingsWrite }>(
    '/api/settings/agents',
    describe(TAG, 'saveAgentSettings', 'Change the bounds of agents', 200, 'agent-settings.json', {
      body: body('request-agent-settings-write.json'),
    }),
    async (request) => engine.saveAgentSettings(request.body),
  )
  app.get(
    '/api/settings/tracing',
    describe(TAG, 'getTracing', 'Tracing of agents, and how exports go', 200, 'tracing-settings.json'),
    async () => engine.getTracing(),
  )
  app.put<{ Body: TracingWrite }>(
    '/api/settings/tracing',
    describe(
      TAG,
      'saveTracing',
      'Change the tracing of agents; the next run is traced by it',
      200,
      'tracing-settings.json',
      { body: body('request-tracing-write.json') },
    ),
    async (request) => engine.saveTracing(request.body),
  )
  app.post(
    '/api/settings/tracing/test',
    describe(
      TAG,
      'testTracing',
      'Send one test span, and say what to look at where it fails',
      200,
      'tracing-tested.json',
    ),
    async () => engine.testTracing(),
  )
  app.get<{ Querystring: { days: number } }>(
    '/api/usage/model',
    describe(
      TAG,
      'modelUsage',
      'What models were used for: of all time, and the last days',
      200,
      'model-usage-result.json',
      DAYS,
    ),
    async ({ query }) => engine.modelUsage(query.days),
  )
}
