/** Provider A's key and gateway by routes of their own: another view of its entry among the providers. */
import type { Gateway, ModelProvider, ProvideraKey, ProviderWrite } from '../../schemas/types.ts'
import type { ModelCalls } from '../models/calls.ts'
import { tagged } from './operation.ts'

const operation = tagged('settings')
const ID = 'providera'

type Models = Pick<ModelCalls, 'listModelProviders' | 'saveModelProvider' | 'removeModelProvider'>

const entryOf = async (engine: Pick<Models, 'listModelProviders'>): Promise<ModelProvider> =>
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

/** @param keepsMore whether something of it stays stored. */
const forget = (engine: Models, keepsMore: boolean | undefined, what: ProviderWrite) =>
  keepsMore ? engine.saveModelProvider(ID, what) : engine.removeModelProvider(ID)

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
      const { key_stored, gateway_stored, gateway_token_stored } = await entryOf(engine)
      if (key_stored) await forget(engine, gateway_stored || gateway_token_stored, { key_clear: true })
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
      const { key_stored, gateway_stored, gateway_token_stored } = await entryOf(engine)
      if (gateway_stored || gateway_token_stored)
        await forget(engine, key_stored, { base_url: '', gateway_token_clear: true })
      return gatewayOf(await entryOf(engine))
    },
  }),
]
