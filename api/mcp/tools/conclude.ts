/** The tool conclude: what an outside agent found about a firing, and the firing's end, in one call. */
import type { FindingCreated, ToolConclude, ToolConcludeResult } from '../../../schemas/types.ts'
import { adds, type Context, defineTool, isAllowed, ToolError } from '../tool.ts'
import { checkedContent, checkedText, recordFindingOf } from './findings.ts'
import { acknowledge, type Holding } from './waiting.ts'

const NOTHING = 'no_op'

export const conclude = defineTool<ToolConclude, ToolConcludeResult>({
  name: 'conclude',
  title: 'Conclude a firing',
  description:
    'Ends a firing that you hold: records what you found as record_finding does and acknowledges it, both or neither. With nothing to report give verdict no_op alone.',
  scope: 'read',
  ofProject: true,
  instead:
    'These are of a firing that wait_for_firing handed out. One that came by webhook was acknowledged as it was taken: record_finding records what you found, and with nothing to report nothing is left to do',
  hints: adds(),
  async run({ subscription_id, delivery_id, lease, ...said }, context) {
    const holding = { subscription_id, delivery_id, lease }
    const made = await record(said, holding, context)
    if (made === null) await acknowledge(holding, context)
    return {
      text: `${delivery_id} is done${made ? `; recorded as ${made.run_id} on the timeline of ${made.entity} (${made.event_id})${checkedText(made)}` : ', with nothing to report'}`,
      content: {
        delivery_id,
        acknowledged: true,
        finding_id: made?.run_id ?? null,
        finding: made?.run_id ?? null,
        event_id: made?.event_id ?? null,
        event: made?.event_id ?? null,
        ...(made ? checkedContent(made) : {}),
      },
    }
  },
})

type Said = Omit<ToolConclude, keyof Holding>

/** @returns null where there is nothing to report. @throws ToolError; DaemonError */
async function record(said: Said, holding: Holding, context: Context): Promise<FindingCreated | null> {
  const { finding, verdict, entity, ...more } = said
  if (finding === undefined) {
    if (verdict === NOTHING) return null
    throw new ToolError(`finding is required, unless verdict is ${NOTHING}`, 'finding')
  }
  if (verdict === NOTHING)
    throw new ToolError(`verdict ${NOTHING} has no finding: leave one of them out`, 'verdict')
  if (entity === undefined)
    throw new ToolError('entity is required with a finding: the entity of the firing', 'entity')
  if (!isAllowed({ scope: 'findings', ofProject: true }, context.identity))
    throw new ToolError(
      `this credential (${context.identity.name}) may not record findings: give verdict ${NOTHING}, and tell a person what you found`,
      'finding',
    )
  return recordFindingOf(
    { ...more, entity, finding, ...(verdict === undefined ? {} : { verdict }) },
    context,
    holding,
  )
}
