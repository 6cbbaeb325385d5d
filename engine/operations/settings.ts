/** Model providers, prices, bounds of agents and their tracing (SPEC.md, Model providers; Outbound 6); what models were used for. */

import type { Gateway, ModelProvider, ProvideraKey } from '../../schemas/types.ts'
import type { ModelCalls } from '../agents/models/calls.ts'
import { tagged } from './operation.ts'

const operation = tagged('settings')

export const settings = [
  operation({
    id: 'listModelProviders',
    route: 'GET /api/settings/providers',
    scope: 'admin',
    role: 'reader',
    answer: 'model-providers-result.json',
    summary: 'List model providers',
    run: (engine) => engine.listModelProviders(),
  }),
  operation({
    id: 'chooseModelProvider',
    route: 'PUT /api/settings/providers/default',
    scope: 'admin',
    role: 'writer',
    body: 'request-provider-default.json',
    answer: 'model-providers-result.json',
    summary: 'Choose the default provider; an empty id goes back to the environment or the rule',
    run: (engine, { body }) => engine.chooseModelProvider(body.id),
  }),
  operation({
    id: 'saveModelProvider',
    route: 'PUT /api/settings/providers/{id}',
    scope: 'admin',
    role: 'network',
    body: 'request-provider-write.json',
    answer: 'model-provider-saved.json',
    summary: 'Make a provider (id new) or change one, and list its models',
    run: (engine, { params, body }) => engine.saveModelProvider(params.id, body),
  }),
  operation({
    id: 'removeModelProvider',
    route: 'DELETE /api/settings/providers/{id}',
    scope: 'admin',
    role: 'writer',
    answer: 'model-providers-result.json',
    summary: 'Forget the stored settings of a provider; those of the environment apply again',
    run: (engine, { params }) => engine.removeModelProvider(params.id),
  }),
  operation({
    id: 'discoverModels',
    route: 'POST /api/settings/providers/{id}/models',
    scope: 'admin',
    role: 'network',
    answer: 'model-provider-saved.json',
    summary: 'Ask a provider for its models',
    run: (engine, { params }) => engine.discoverModels(params.id),
  }),
  operation({
    id: 'testModelProvider',
    route: 'POST /api/settings/providers/{id}/test',
    scope: 'admin',
    role: 'network',
    optionalBody: 'request-provider-test.json',
    answer: 'model-provider-tested.json',
    summary: 'Make one small call, and say what to look at where it fails',
    run: (engine, { params, body }) => engine.testModelProvider(params.id, body?.model ?? ''),
  }),
  operation({
    id: 'getModelPrices',
    route: 'GET /api/settings/prices',
    scope: 'admin',
    role: 'reader',
    answer: 'model-prices.json',
    summary: 'Prices of models',
    run: (engine) => engine.modelPrices(),
  }),
  operation({
    id: 'saveModelPrices',
    route: 'PUT /api/settings/prices',
    scope: 'admin',
    role: 'writer',
    body: 'request-prices-write.json',
    answer: 'model-prices.json',
    summary: 'Replace the own prices',
    run: (engine, { body }) => engine.saveModelPrices(body),
  }),
  operation({
    id: 'getAgentSettings',
    route: 'GET /api/settings/agents',
    scope: 'admin',
    role: 'reader',
    answer: 'agent-settings.json',
    summary: 'Bounds of agents',
    run: (engine) => engine.agentSettings(),
  }),
  operation({
    id: 'saveAgentSettings',
    route: 'PUT /api/settings/agents',
    scope: 'admin',
    role: 'writer',
    body: 'request-agent-settings-write.json',
    answer: 'agent-settings.json',
    summary: 'Change the bounds of agents',
    run: (engine, { body }) => engine.saveAgentSettings(body),
  }),
  operation({
    id: 'getTracing',
    route: 'GET /api/settings/tracing',
    scope: 'admin',
    role: 'network',
    answer: 'tracing-settings.json',
    summary: 'Tracing of agents, and how exports go',
    run: (engine) => engine.getTracing(),
  }),
  operation({
    id: 'saveTracing',
    route: 'PUT /api/settings/tracing',
    scope: 'admin',
    role: 'network',
    body: 'request-tracing-write.json',
    answer: 'tracing-settings.json',
    summary: 'Change the tracing of agents; the next run is traced by it',
    run: (engine, { body }) => engine.saveTracing(body),
  }),
  operation({
    id: 'testTracing',
    route: 'POST /api/settings/tracing/test',
    scope: 'admin',
    role: 'network',
    answer: 'tracing-tested.json',
    summary: 'Send one test span, and say what to look at where it fails',
    run: (engine) => engine.testTracing(),
  }),
  operation({
    id: 'modelUsage',
    route: 'GET /api/usage/model',
    scope: 'read',
    role: 'reader',
    query: { days: { type: 'integer', minimum: 1, maximum: 366, default: 30 } },
    answer: 'model-usage-result.json',
    summary: 'What models were used for: of all time, and the last days',
    run: (engine, { query }) => engine.modelUsage(query.days),
  }),
]

/* Provider A's key and gateway by routes of their own: another view of its entry among the providers. */

const ID = 'providera'

const entryOf = async (engine: Pick<ModelCalls, 'listModelProviders'>): Promise<ModelProvider> =>
  (await engine.listModelProviders()).providers.find(({ id }) => id === ID)!

const keyOf = ({ configured, source, key_stored }: ModelProvider): ProvideraKey => ({
  configured,
  source,
  stored: key_stored,
  env_overrides: false,
})

const gatewayOf = (entry: ModelProvider): Gateway => ({
  configured: entry.base_url !== '',
  url: entry.base_url,
  source: entry.base_source,
  stored: entry.gateway_stored ?? false,
  token_stored: entry.gateway_token_stored ?? false,
  default_url: entry.default_url ?? '',
})

export const providerA = [
  operation({
    id: 'getProviderAKey',
    route: 'GET /api/settings/providera-key',
    scope: 'admin',
    role: 'reader',
    answer: 'providera-key.json',
    summary: 'Whether provider A has a credential',
    run: async (engine) => keyOf(await entryOf(engine)),
  }),
  operation({
    id: 'saveProviderAKey',
    route: 'PUT /api/settings/providera-key',
    scope: 'admin',
    role: 'network',
    body: 'request-providera-key-write.json',
    answer: 'providera-key.json',
    summary: 'Store the key of provider A',
    run: async (engine, { body }) => {
      await engine.saveModelProvider(ID, { key: body.key })
      return keyOf(await entryOf(engine))
    },
  }),
  operation({
    id: 'forgetProviderAKey',
    route: 'DELETE /api/settings/providera-key',
    scope: 'admin',
    role: 'network',
    answer: 'providera-key.json',
    summary: 'Forget the stored key of provider A',
    run: async (engine) => {
      // Written, not removed: the model and the provider that a person chose are no part of the key.
      if ((await entryOf(engine)).key_stored) await engine.saveModelProvider(ID, { key_clear: true })
      return keyOf(await entryOf(engine))
    },
  }),
  operation({
    id: 'getGateway',
    route: 'GET /api/settings/gateway',
    scope: 'admin',
    role: 'reader',
    answer: 'gateway.json',
    summary: 'The gateway in front of provider A',
    run: async (engine) => gatewayOf(await entryOf(engine)),
  }),
  operation({
    id: 'saveGateway',
    route: 'PUT /api/settings/gateway',
    scope: 'admin',
    role: 'network',
    body: 'request-gateway-write.json',
    answer: 'gateway.json',
    summary: 'Store the address and token of a gateway',
    run: async (engine, { body: { url, token } }) => {
      await engine.saveModelProvider(ID, {
        ...(url === undefined ? {} : { base_url: url }),
        ...(token === undefined ? {} : { gateway_token: token }),
      })
      return gatewayOf(await entryOf(engine))
    },
  }),
  operation({
    id: 'forgetGateway',
    route: 'DELETE /api/settings/gateway',
    scope: 'admin',
    role: 'network',
    answer: 'gateway.json',
    summary: 'Forget the stored address and token',
    run: async (engine) => {
      const { gateway_stored, gateway_token_stored } = await entryOf(engine)
      if (gateway_stored || gateway_token_stored)
        await engine.saveModelProvider(ID, { base_url: '', gateway_token_clear: true })
      return gatewayOf(await entryOf(engine))
    },
  }),
]

/* Slack's bot token and signing secret, and the channels findings can go to (SPEC.md, Settings: Slack). */

const slackOperation = tagged('slack')

// Calls of role network also change the list of channels, which is kept there.
export const slack = [
  slackOperation({
    id: 'getSlackBotToken',
    route: 'GET /api/settings/slack-bot-token',
    scope: 'admin',
    role: 'reader',
    answer: 'slack-secret.json',
    summary: 'Whether Slack has a bot token',
    run: (engine) => engine.slackSecret('bot_token'),
  }),
  slackOperation({
    id: 'saveSlackBotToken',
    route: 'PUT /api/settings/slack-bot-token',
    scope: 'admin',
    role: 'network',
    body: 'request-slack-bot-token-write.json',
    answer: 'slack-secret.json',
    summary: 'Store the bot token',
    run: (engine, { body }) => engine.storeSlackSecret('bot_token', body.token),
  }),
  slackOperation({
    id: 'forgetSlackBotToken',
    route: 'DELETE /api/settings/slack-bot-token',
    scope: 'admin',
    role: 'network',
    answer: 'slack-secret.json',
    summary: 'Forget the stored bot token',
    run: (engine) => engine.forgetSlackSecret('bot_token'),
  }),
  slackOperation({
    id: 'testSlack',
    route: 'POST /api/settings/slack-bot-token/test',
    scope: 'admin',
    role: 'network',
    answer: 'slack-tested.json',
    summary: 'Ask Slack whose the bot token is',
    run: (engine) => engine.testSlack(),
  }),
  slackOperation({
    id: 'getSlackSigningSecret',
    route: 'GET /api/settings/slack-signing-secret',
    scope: 'admin',
    role: 'reader',
    answer: 'slack-secret.json',
    summary: 'Whether Slack has a signing secret',
    run: (engine) => engine.slackSecret('signing_secret'),
  }),
  slackOperation({
    id: 'saveSlackSigningSecret',
    route: 'PUT /api/settings/slack-signing-secret',
    scope: 'admin',
    role: 'network',
    body: 'request-slack-signing-secret-write.json',
    answer: 'slack-secret.json',
    summary: 'Store the signing secret',
    run: (engine, { body }) => engine.storeSlackSecret('signing_secret', body.secret),
  }),
  slackOperation({
    id: 'forgetSlackSigningSecret',
    route: 'DELETE /api/settings/slack-signing-secret',
    scope: 'admin',
    role: 'network',
    answer: 'slack-secret.json',
    summary: 'Forget the stored signing secret',
    run: (engine) => engine.forgetSlackSecret('signing_secret'),
  }),
  slackOperation({
    id: 'listSlackChannels',
    route: 'GET /api/slack/channels',
    scope: 'read',
    role: 'network',
    answer: 'slack-channels-result.json',
    summary: 'Every public channel, and private ones the bot is in',
    run: (engine) => engine.slackChannels(),
  }),
  slackOperation({
    id: 'dropSlackChannels',
    route: 'POST /api/slack/channels/changed',
    scope: 'admin',
    role: 'network',
    optionalBody: 'request-slack-channels-changed.json',
    answer: 'done.json',
    summary: 'Read the channels anew at the next list',
    run: (engine) => engine.dropSlackChannels(),
  }),
  slackOperation({
    id: 'getSlackManifest',
    route: 'GET /api/slack/manifest',
    scope: 'admin',
    role: 'network',
    answer: 'slack-manifest.json',
    summary: 'The manifest of the Slack app, and why it asks for each scope',
    run: (engine) => engine.slackManifest(),
  }),
  slackOperation({
    id: 'getSlackPeople',
    route: 'GET /api/settings/slack-people',
    scope: 'admin',
    role: 'reader',
    answer: 'slack-people.json',
    summary: 'Who of Slack may do what',
    run: (engine) => engine.slackPeople(),
  }),
  slackOperation({
    id: 'saveSlackPeople',
    route: 'PUT /api/settings/slack-people',
    scope: 'admin',
    role: 'network',
    body: 'request-slack-people-write.json',
    answer: 'slack-people.json',
    summary: 'Replace who of Slack may do what',
    run: (engine, { body }) => engine.saveSlackPeople(body),
  }),
  slackOperation({
    id: 'getSlackTeam',
    route: 'GET /api/settings/slack-team',
    scope: 'admin',
    role: 'reader',
    answer: 'slack-team-read.json',
    summary: 'The workspace that requests are taken of',
    run: (engine) => engine.slackTeam(),
  }),
  slackOperation({
    id: 'saveSlackTeam',
    route: 'PUT /api/settings/slack-team',
    scope: 'admin',
    role: 'writer',
    body: 'request-slack-team-write.json',
    answer: 'slack-team-read.json',
    summary: 'Take requests of one workspace alone',
    run: (engine, { body }) => engine.bindSlackTeam(body),
  }),
  slackOperation({
    id: 'forgetSlackTeam',
    route: 'DELETE /api/settings/slack-team',
    scope: 'admin',
    role: 'writer',
    answer: 'slack-team-read.json',
    summary: 'Take requests of any workspace that the signing secret signs',
    run: (engine) => engine.bindSlackTeam(null),
  }),
]

const instanceOperation = tagged('instance')

/* Of a hosted instance (SPEC.md, hosted-workspace features). */
export const workspaces = [
  instanceOperation({
    id: 'listWorkspaces',
    route: 'GET /api/workspaces',
    scope: 'read',
    role: 'network',
    answer: 'workspaces-result.json',
    summary: 'Workspaces of the platform that this instance is hosted on',
    run: (engine, { user }) => engine.listWorkspaces(user ?? null),
  }),
]
