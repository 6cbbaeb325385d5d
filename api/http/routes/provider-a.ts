/** Provider A's key and gateway by routes of their own: another view of its entry among the providers. */
import type { FastifyInstance } from 'fastify'
import type {
  Gateway,
  GatewayWrite,
  ModelProvider,
  ProvideraKey,
  ProviderWrite,
} from '../../../schemas/types.ts'
import type { Doors } from '../doors.ts'
import { body } from '../validate.ts'
import { describe } from './route.ts'

const TAG = 'settings'
const ID = 'providera'
const KEY = '/api/settings/providera-key'
const GATEWAY = '/api/settings/gateway'

export function providerARoutes(app: FastifyInstance, { engine }: Doors): void {
  const entry = async () => (await engine.listModelProviders()).providers.find(({ id }) => id === ID)!
  const key = async () => keyOf(await entry())
  const gateway = async () => gatewayOf(await entry())
  /** @param keepsMore whether something of it stays stored. */
  const forget = (keepsMore: boolean | undefined, what: ProviderWrite) =>
    keepsMore ? engine.saveModelProvider(ID, what) : engine.removeModelProvider(ID)
  app.get(
    KEY,
    describe(TAG, 'getProviderAKey', 'Whether provider A has a credential', 200, 'providera-key.json'),
    key,
  )
  app.put<{ Body: { key: string } }>(
    KEY,
    describe(TAG, 'saveProviderAKey', 'Store the key of provider A', 200, 'providera-key.json', {
      body: body('request-providera-key-write.json'),
    }),
    async (request) => {
      await engine.saveModelProvider(ID, { key: request.body.key })
      return key()
    },
  )
  app.delete(
    KEY,
    describe(TAG, 'forgetProviderAKey', 'Forget the stored key of provider A', 200, 'providera-key.json'),
    async () => {
      const { key_stored, gateway_stored, gateway_token_stored } = await entry()
      if (key_stored) await forget(gateway_stored || gateway_token_stored, { key_clear: true })
      return key()
    },
  )
  app.get(
    GATEWAY,
    describe(TAG, 'getGateway', 'The gateway in front of provider A', 200, 'gateway.json'),
    gateway,
  )
  app.put<{ Body: GatewayWrite }>(
    GATEWAY,
    describe(TAG, 'saveGateway', 'Store the address and token of a gateway', 200, 'gateway.json', {
      body: body('request-gateway-write.json'),
    }),
    async (request) => {
      const { url, token } = request.body
      await engine.saveModelProvider(ID, {
        ...(url === undefined ? {} : { base_url: url }),
        ...(token === undefined ? {} : { gateway_token: token }),
      })
      return gateway()
    },
  )
  app.delete(
    GATEWAY,
    describe(TAG, 'forgetGateway', 'Forget the stored address and token', 200, 'gateway.json'),
    async () => {
      const { key_stored, gateway_stored, gateway_token_stored } = await entry()
      if (gateway_stored || gateway_token_stored)
        await forget(key_stored, { base_url: '', gateway_token_clear: true })
      return gateway()
    },
  )
}

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
