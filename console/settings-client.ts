/** Calls about model providers, prices, the bounds and tracing of agents, and what models were used for. */
import * as calls from '../api/client/calls.ts'
import type { AgentSettingsWrite, PricesWrite, ProviderWrite, TracingWrite } from '../schemas/types.ts'
import { ask } from './client.ts'

export const settings = {
  providers: () => ask(calls.listModelProviders),
  /** @param id `new` makes one */
  saveProvider: (id: string, body: ProviderWrite) => ask(calls.saveModelProvider, { id, body }),
  deleteProvider: (id: string) => ask(calls.removeModelProvider, { id }),
  chooseProvider: (id: string) => ask(calls.chooseModelProvider, { body: { id } }),
  listModels: (id: string) => ask(calls.discoverModels, { id }),
  /** @param model to ask; empty: the default of the provider */
  testProvider: (id: string, model: string) => ask(calls.testModelProvider, { id, body: { model } }),
  prices: () => ask(calls.getModelPrices),
  savePrices: (body: PricesWrite) => ask(calls.saveModelPrices, { body }),
  agents: () => ask(calls.getAgentSettings),
  saveAgents: (body: AgentSettingsWrite) => ask(calls.saveAgentSettings, { body }),
  tracing: () => ask(calls.getTracing),
  saveTracing: (body: TracingWrite) => ask(calls.saveTracing, { body }),
  testTracing: () => ask(calls.testTracing),
  usage: (days: number) => ask(calls.modelUsage, { days }),
}

/** Query keys, in one place. Agents say which models there are: they are read again with these. */
export const skeys = {
  providers: ['declared', 'providers'],
  prices: ['declared', 'prices'],
  agents: ['declared', 'agent-settings'],
  tracing: ['declared', 'tracing'],
  usage: (days: number) => ['work', 'usage', days],
} as const
