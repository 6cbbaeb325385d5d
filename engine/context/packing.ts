/** Lines into a budget: each part within its share, all within the whole. */
import { cautiousTokens } from './tokens.ts'
import type { BriefLine, Section, SectionName } from './types.ts'

/** Of the budget, at most. */
const SHARES: Record<SectionName, number> = {
  requests: 0.35,
  changes: 0.3,
  numbers: 0.45,
  lines: 0.6,
  usual: 0.12,
  left: 1,
}
const TITLES: Record<SectionName, string> = {
  requests: '## Requests that took another path',
  changes: '## Changes',
  numbers: '## Numbers that moved: usual (5 to 95 %) → now',
  lines: '## New, risen or stopped',
  usual: '## As usual',
  left: '## Left out',
}
const ORDER: SectionName[] = ['requests', 'changes', 'numbers', 'lines', 'usual', 'left']

export class Packing {
  private readonly budget: number
  private left: number
  private readonly used = new Map<SectionName, number>()
  private readonly lines = new Map<SectionName, BriefLine[]>()

  /** @param budget tokens. @param reserved of them for what is not put here. */
  constructor(budget: number, reserved: number) {
    this.budget = budget
    this.left = budget - reserved
  }

  /** @returns false where it does not fit: a shorter one may. */
  put(section: SectionName, line: BriefLine): boolean {
    const isFirst = !this.lines.has(section)
    const cost = costOf(line.text) + (isFirst ? costOf(TITLES[section]) : 0)
    const used = this.used.get(section) ?? 0
    if (cost > this.left || used + cost > SHARES[section] * this.budget) return false
    this.left -= cost
    this.used.set(section, used + cost)
    if (isFirst) this.lines.set(section, [])
    this.lines.get(section)!.push(line)
    return true
  }

  /** Tokens to give to what was reserved. */
  release(reserved: number): void {
    this.left += reserved
  }

  has(section: SectionName): boolean {
    return this.lines.has(section)
  }

  sort(section: SectionName, order: readonly BriefLine[]): void {
    this.lines.get(section)?.sort((a, b) => order.indexOf(a) - order.indexOf(b))
  }

  sections(): Section[] {
    return ORDER.flatMap((name) => {
      const lines = this.lines.get(name)
      return lines ? [{ name, title: TITLES[name], lines }] : []
    })
  }
}

/** With its line break. */
export const costOf = (line: string): number => cautiousTokens(`${line}\n`)
