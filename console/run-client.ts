/** Calls about agents at work: runs, what an agent would be told, and what it may cost. */
import type {
  AgentForecast,
  AgentPreview,
  RerunRequest,
  RerunResult,
  RunDetail,
  RunsResult,
  ScenarioAsk,
  ScenarioPreview,
} from '../schemas/types.ts'
import { call } from './client.ts'
import { asked, type RunQuery } from './lib/run-filters.ts'
import { saveFile } from './lib/save-file.ts'

const name = encodeURIComponent
const get = async <T>(path: string): Promise<T> => (await call('GET', path)).json() as Promise<T>
const agent = (of: string) => `/api/agents/builtin/${name(of)}`

export const runs = {
  list: (query: RunQuery, limit: number, offset = 0) =>
    get<RunsResult>(`/api/runs${asked({ ...query, limit, offset })}`),
  one: (id: string) => get<RunDetail>(`/api/runs/${name(id)}`),
  rerun: async (id: string, body: RerunRequest) =>
    (await call('POST', `/api/runs/${name(id)}/rerun`, body)).json() as Promise<RerunResult>,
  cancel: async (id: string) =>
    (await call('POST', `/api/runs/${name(id)}/cancel`)).json() as Promise<unknown>,
  previewScenario: async (id: string, asked: ScenarioAsk) =>
    (await call('POST', `/api/runs/${name(id)}/scenario`, asked)).json() as Promise<ScenarioPreview>,
  /** Hands the file to the browser. */
  downloadScenario: async (id: string, asked: ScenarioAsk) => {
    const answer = await call('POST', `/api/runs/${name(id)}/scenario/file`, asked)
    saveFile(await answer.blob(), `${id}.scenario.json`)
  },
  preview: (of: string, firing: string) => get<AgentPreview>(`${agent(of)}/preview?firing=${name(firing)}`),
  forecast: (of: string) => get<AgentForecast>(`${agent(of)}/forecast`),
}

/** Query keys, in one place; they begin as those of triggers at work, so that both are read again together. */
export const rkeys = {
  list: (query: RunQuery, limit: number, offset: number) => ['work', 'runs', query, limit, offset],
  one: (id: string) => ['work', 'run', id],
  preview: (of: string, firing: string) => ['work', 'preview', of, firing],
  forecast: (of: string) => ['work', 'forecast', of],
} as const
