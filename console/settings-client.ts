/** Calls about model providers, prices, the bounds and tracing of agents, and what models were used for. */
import type {
  AgentSettings,
  AgentSettingsWrite,
  ModelPrices,
  ModelProviderSaved,
  ModelProvidersResult,
  ModelProviderTested,
  ModelUsageResult,
  PricesWrite,
  ProviderWrite,
  TracingSettings,
  TracingTested,
  TracingWrite,
} from '../schemas/types.ts'
import { call } from './client.ts'

const name = encodeURIComponent
const get = async <T>(path: string): Promise<T> => (await call('GET', path)).json() as Promise<T>
const send = async <T>(method: string, path: string, body?: unknown): Promise<T> =>
  (await call(method, path, body)).json() as Promise<T>
const provider = (id: string) => `/api/settings/providers/${name(id)}`

export const settings = {
  providers: () => get<ModelProvidersResult>('/api/settings/providers'),
  /** @param id `new` makes one */
  saveProvider: (id: string, body: ProviderWrite) => send<ModelProviderSaved>('PUT', provider(id), body),
  deleteProvider: (id: string) => send<ModelProvidersResult>('DELETE', provider(id)),
  chooseProvider: (id: string) => send<ModelProvidersResult>('PUT', provider('default'), { id }),
  listModels: (id: string) => send<ModelProviderSaved>('POST', `${provider(id)}/models`),
  /** @param model to ask; empty: the default of the provider */
  testProvider: (id: string, model: string) =>
    send<ModelProviderTested>('POST', `${provider(id)}/test`, { model }),
  prices: () => get<ModelPrices>('/api/settings/prices'),
  savePrices: (body: PricesWrite) => send<ModelPrices>('PUT', '/api/settings/prices', body),
  agents: () => get<AgentSettings>('/api/settings/agents'),
  saveAgents: (body: AgentSettingsWrite) => send<AgentSettings>('PUT', '/api/settings/agents', body),
  tracing: () => get<TracingSettings>('/api/settings/tracing'),
  saveTracing: (body: TracingWrite) => send<TracingSettings>('PUT', '/api/settings/tracing', body),
  testTracing: () => send<TracingTested>('POST', '/api/settings/tracing/test'),
  usage: (days: number) => get<ModelUsageResult>(`/api/usage/model?days=${days}`),
}

/** Query keys, in one place. Agents say which models there are: they are read again with these. */
export const skeys = {
  providers: ['declared', 'providers'],
  prices: ['declared', 'prices'],
  agents: ['declared', 'agent-settings'],
  tracing: ['declared', 'tracing'],
  usage: (days: number) => ['work', 'usage', days],
} as const
