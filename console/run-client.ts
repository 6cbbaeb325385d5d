/** Calls about agents at work: runs, what an agent would be told, and what it may cost. */
import type { InputOf } from '../api/client/call.ts'
import * as calls from '../api/client/calls.ts'
import type { RerunRequest, ScenarioAsk } from '../schemas/types.ts'
import { ask, send } from './client.ts'
import { filtered } from './lib/filtered.ts'
import type { RunQuery } from './lib/run-filters.ts'
import { saveFile } from './lib/save-file.ts'
import { instantOf } from './lib/work-filters.ts'

export const runs = {
  list: ({ since = '', ...query }: RunQuery, limit: number, offset = 0) => {
    const ended_since = instantOf(since, Date.now())
    return ask(
      calls.listRuns,
      filtered<InputOf<typeof calls.listRuns>>({ ...query, ended_since, limit, offset }),
    )
  },
  one: (id: string) => ask(calls.getRun, { id }),
  rerun: (id: string, body: RerunRequest) => ask(calls.rerun, { id, body }),
  cancel: (id: string) => ask(calls.cancelRun, { id }),
  previewScenario: (id: string, body: ScenarioAsk) => ask(calls.previewScenario, { id, body }),
  /** Hands the file to the browser. */
  downloadScenario: async (id: string, body: ScenarioAsk) => {
    const answer = await send(calls.downloadScenario, { id, body })
    saveFile(await answer.blob(), `${id}.scenario.json`)
  },
  preview: (name: string, firing: string) => ask(calls.previewAgent, { name, firing }),
  forecast: (name: string) => ask(calls.agentForecast, { name }),
}

/** Query keys, in one place; they begin as those of triggers at work, so that both are read again together. */
export const rkeys = {
  list: (query: RunQuery, limit: number, offset: number) => ['work', 'runs', query, limit, offset],
  one: (id: string) => ['work', 'run', id],
  preview: (of: string, firing: string) => ['work', 'preview', of, firing],
  forecast: (of: string) => ['work', 'forecast', of],
} as const
