/** One act on many incidents: in steps that one call takes, told once, and taken back together. */
import type { QueryClient } from '@tanstack/react-query'
import type { Incident } from '../../schemas/types.ts'
import { ACTED_MAX, ikeys, incidents } from '../incident-client.ts'
import { actorName } from './actor.ts'
import { type Act, actBack } from './incident-acts.ts'
import { notifications } from './notices.ts'
import { count } from './time.ts'
import { sayDone } from './undo.tsx'

/** More acts than any way back takes. */
const BACK_MAX = 4

export type ManyAct = { action: 'acknowledge' | 'handle' | 'reopen' } | Extract<Act, { action: 'snooze' }>

type OfMany = Exclude<Act, { action: 'note' }>

const DONE: Readonly<Record<ManyAct['action'], string>> = {
  acknowledge: 'acknowledged',
  handle: 'handled',
  reopen: 'reopened',
  snooze: 'snoozed',
}

/** "12 incidents handled, 2 left as they were". @param skipped those that did not accept it any more */
export function manyWords(action: ManyAct['action'], done: number, skipped: number): string {
  const said = `${count(done)} ${done === 1 ? 'incident' : 'incidents'} ${DONE[action]}`
  return skipped === 0 ? said : `${said}, ${count(skipped)} left as ${skipped === 1 ? 'it was' : 'they were'}`
}

/** Done in steps. @throws ApiError, after the steps before were done: `done` holds those */
async function actInSteps(seen: readonly Incident[], act: OfMany, done: Incident[]): Promise<number> {
  let skipped = 0
  for (let at = 0; at < seen.length; at += ACTED_MAX) {
    const answer = await incidents.actOnMany(seen.slice(at, at + ACTED_MAX), act, actorName())
    done.push(...answer.incidents)
    skipped += answer.skipped.length
  }
  return skipped
}

/** Acts on all of them, says what was done, and offers it back; the list is read again after it. @param selected as they were seen */
export async function actOnSelected(
  queries: QueryClient,
  selected: readonly Incident[],
  act: ManyAct,
): Promise<void> {
  const done: Incident[] = []
  const undo = () => void takeBack(queries, selected, done)
  try {
    const skipped = await actInSteps(selected, act, done)
    sayDone('undo-many', manyWords(act.action, done.length, skipped), done.length > 0 ? undo : undefined)
  } catch (error) {
    if (done.length > 0) sayDone('undo-many', manyWords(act.action, done.length, 0), undo)
    notifications.show({
      color: 'red',
      title: `Couldn’t change ${count(selected.length - done.length)} of ${count(selected.length)} incidents`,
      message: (error as Error).message,
      autoClose: 15_000,
    })
  }
  // Not waited for: what is selected while the list is read again is another selection.
  void queries.invalidateQueries({ queryKey: ikeys.all })
}

/** Each becomes what it was, those that go the same way together; what somebody else changed meanwhile stays theirs. */
async function takeBack(queries: QueryClient, before: readonly Incident[], done: Incident[]): Promise<void> {
  const was = new Map(before.map((incident) => [incident.id, incident]))
  let now = done
  let kept = 0
  try {
    for (let step = 0; step < BACK_MAX && now.length > 0; step++) {
      const ways = new Map<string, { act: OfMany; all: Incident[] }>()
      for (const incident of now) {
        const act = actBack(incident, was.get(incident.id)!)
        if (act === null) continue
        const way = ways.get(JSON.stringify(act)) ?? { act, all: [] }
        ways.set(JSON.stringify(act), way)
        way.all.push(incident)
      }
      now = []
      for (const { act, all } of ways.values()) kept += await actInSteps(all, act, now)
    }
    const undone = done.length - kept
    const others = kept === 0 ? '' : `, ${count(kept)} ${kept === 1 ? 'was' : 'were'} changed meanwhile`
    notifications.show({
      message: `Undone: ${count(undone)} ${undone === 1 ? 'incident is' : 'incidents are'} as before${others}`,
    })
  } catch (error) {
    notifications.show({
      color: 'red',
      title: 'Couldn’t undo it for all of them',
      message: (error as Error).message,
      autoClose: 15_000,
    })
  }
  await queries.invalidateQueries({ queryKey: ikeys.all })
}
