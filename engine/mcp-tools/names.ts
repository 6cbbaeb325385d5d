/** Names of external tools that model providers take: 64 characters of [A-Za-z0-9_-] at most. */
import { createHash } from 'node:crypto'

const MAX = 64
const DIGITS = 8

interface Named {
  server: string
  tool: string
}

/**
 * A name for each tool, `server__tool`, unique in any case of letters, since models do not keep to it.
 * Where that is too long, or two would share it, the end is a hash of both names, so that a tool's name
 * does not depend on the order in which servers answer. No name is one of ours: none of ours has `__`.
 * @returns in the order given.
 */
export function namesOf(tools: readonly Named[]): string[] {
  const plain = tools.map(({ server, tool }) => `${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, '_'))
  const sharing = new Map<string, number>()
  for (const name of plain) sharing.set(name.toLowerCase(), (sharing.get(name.toLowerCase()) ?? 0) + 1)
  const taken = new Set<string>()
  const names = plain.map((name) => {
    const isFree = name.length <= MAX && sharing.get(name.toLowerCase()) === 1
    if (isFree) taken.add(name.toLowerCase())
    return isFree ? name : null
  })
  return names.map((name, i) => name ?? hashed(plain[i]!, tools[i]!, taken))
}

function hashed(plain: string, { server, tool }: Named, taken: Set<string>): string {
  // A tool may be named like another's hash: the next hash is as good.
  for (let salt = 0; ; salt++) {
    const digest = createHash('sha256')
      .update(JSON.stringify([server, tool, salt]))
      .digest('hex')
    const name = `${plain.slice(0, MAX - DIGITS - 1)}_${digest.slice(0, DIGITS)}`
    if (taken.has(name.toLowerCase())) continue
    taken.add(name.toLowerCase())
    return name
  }
}
