/** Findings of requests as lines: the last normal event, an example, and what differs between them. */
import { clock, number, shortened, type Telling } from './lines.ts'
import {
  type BrokenCall,
  type BrokenPath,
  type FailingCall,
  namesOf,
  type PathFinding,
  type SlowStep,
} from './paths/findings.ts'
import { traceIdOf } from './paths/traces.ts'
import type { BriefLine, Timed } from './types.ts'
import { ERROR_LEVEL } from './words.ts'

/** Of the text of a new step. */
const STEP_TEXT = 150
/** From this share of requests on it is said that they break here first. */
const BREAKS_FIRST = 0.3

export function pathLine(finding: PathFinding, telling: Telling): BriefLine {
  const { normal, example, entity } = finding
  const ids = normal.row.id === example.row.id ? example.row.id : `${normal.row.id}…${example.row.id}`
  const { source, type } = example.row
  const whose = entity ? ` {${telling.labelOf(entity)}=${entity}}` : ''
  const shown: BriefLine['shown'] = [
    [normal.row.id, 1],
    [example.row.id, 1],
  ]
  const text =
    finding.kind === 'slow'
      ? slowText(finding, telling)
      : finding.kind === 'call'
        ? callText(finding)
        : finding.kind === 'failing'
          ? failingText(finding)
          : brokenText(finding, telling)
  const what = finding.kind === 'slow' && !finding.isPause ? source : `${source} ${type}`
  return { text: `${ids} ${clock(finding.since, telling)} ${what} ${text}${whose}`, shown }
}

/** What a line tells, so that the same is not told again by other parts. */
export function toldBy(finding: PathFinding): string[] {
  if (finding.kind === 'slow') return [`${finding.at}\0${finding.operation}`]
  if (finding.kind === 'failing') return []
  return [finding.gone?.key, finding.fresh?.key].filter((key) => !!key) as string[]
}

/** A step by its place, with the entity where that is another. */
function stepName(key: string, at: string): string {
  if (key === '') return 'end of its lines'
  const { entity, place } = namesOf(key)
  return entity === at ? place : `${entity} ${place}`
}

function traceText(line: Timed): string {
  const id = traceIdOf(line)
  return id === null ? '' : ` trace=${id}`
}

function brokenText(finding: BrokenPath, telling: Telling): string {
  const { after, gone, fresh, nowCount, beforeCount, hits, first, example, lastNormal } = finding
  const { entity, place } = namesOf(after)
  const parts: string[] = []
  if (gone) {
    const last = lastNormal === null ? '' : `, last at ${clock(lastNormal, telling)}`
    parts.push(
      `${stepName(gone.key, entity)} ${gone.now ? 'FEWER' : 'STOPPED'}: ${gone.now} of ${nowCount} requests, expected ${Math.round(gone.share * nowCount)}${last}`,
    )
  }
  if (fresh) {
    const isError = fresh.key !== '' && ERROR_LEVEL.test(example.row.type)
    const said = fresh.key === '' ? '' : `: ${stepText(example, namesOf(fresh.key).place)}`
    parts.push(
      `${gone ? 'now' : 'NEW'} ${stepName(fresh.key, entity)}${isError ? ' ERROR' : ''} ×${fresh.now} of ${nowCount} (usual ${fresh.before} of ${beforeCount})${said}`,
    )
  }
  if (hits && first / hits >= BREAKS_FIRST) parts.push(`breaks first here in ${first} of ${hits}`)
  return `after ${entity} ${place}: ${parts.join('; ')}${traceText(example)}`
}

/** What a step says, without its time, ids and place, which are told already. */
function stepText({ row }: Timed, place: string): string {
  const plain = row.text
    .replace(/^[\d:.,TZ-]+\s+\w+\s+/, '')
    .replace(/trace[_\s-]?id["']?\s*[:=]\s*\S+\s*/i, '')
    .replace(/span[_\s-]?id["']?\s*[:=]\s*\S+\s*/i, '')
    .replace(`${place} `, '')
  return shortened(plain, STEP_TEXT)
}

function callText({ of, gone, fresh, nowCount, beforeCount, example }: BrokenCall): string {
  const { entity, place } = namesOf(of)
  const what = gone
    ? `call of ${stepName(gone.key, entity)} ${gone.now ? 'FEWER' : 'STOPPED'}: in ${gone.now} of ${nowCount}, usual ${Math.round((100 * gone.before) / beforeCount)} %`
    : `NEW call of ${stepName(fresh!.key, entity)}: ${fresh!.now} in ${nowCount}, usual ${fresh!.before} in ${beforeCount}`
  return `${entity} ${place}: ${what}${traceText(example)}`
}

function failingText(finding: FailingCall): string {
  const { of, beforeCount, beforeFailed, nowCount, nowFailed, first, example } = finding
  const { entity, place } = namesOf(of)
  const breaks = first / nowFailed >= BREAKS_FIRST ? `; breaks first here in ${first} of ${nowFailed}` : ''
  return `${entity} ${place} FAILING: ${nowFailed} of ${nowCount} requests, usual ${beforeFailed} of ${beforeCount}${breaks}: ${shortened(example.row.text, STEP_TEXT)}${traceText(example)}`
}

function slowText(finding: SlowStep, telling: Telling): string {
  const { at, operation, calls, isPause, usual, low, high, now, p90, peak, above, nowCount } = finding
  const to = calls ? ` (${isPause ? 'then' : 'calls'} ${calls})` : ''
  const took = isPause
    ? `pause ${number(usual)} (${number(low)}–${number(high)}) → ${number(now)} (p90 ${number(p90)}, peak ${number(peak)}) ms`
    : `whole ${number(finding.wholeUsual)} → ${number(finding.wholeNow)} (peak ${number(peak)}) ms, own ${number(usual)} (${number(low)}–${number(high)}) → ${number(now)} (p90 ${number(p90)}) ms`
  const pairs = finding.slowPairs ? `; calls of ${finding.entity} slow: ${finding.slowPairs}` : ''
  return `${at} ${operation}${to} SLOWER: ${took}; ${above} of ${nowCount} above usual since ${clock(finding.since, telling)}${pairs}`
}
