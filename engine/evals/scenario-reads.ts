/** Scenarios made from runs, as callers see them. */
import type { ScenarioAsk, ScenarioFile, ScenarioPreview } from '../../schemas/types.ts'
import type { Asked } from '../calls.ts'

export interface ScenarioReads {
  /** What a scenario made from a run would hold. @throws SvcError not_found; invalid; conflict */
  previewScenario(run: string, asked: ScenarioAsk, by?: Asked): Promise<ScenarioPreview>
  /** The scenario itself, which leaves. @throws SvcError as of the preview, and invalid where no cause is said */
  scenarioOfRun(run: string, asked: ScenarioAsk, by?: Asked): Promise<ScenarioFile>
}
