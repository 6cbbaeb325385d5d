/** The tests and the mixed load under each of several Nodes, fetched where they are not there. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { ensureNode } from '../../bin/runtime.mjs'

const path = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const LOAD_SECONDS = 60

/** @param majors such as ['22', '24', '26']. @returns whether all passed under each */
export async function runUnderNodes(majors: readonly string[]): Promise<boolean> {
  const failed: string[] = []
  for (const major of majors) {
    const node = await ensureNode(major)
    console.log(`\n== Node ${major}: unit and integration tests`)
    if (!(await runs(node, [path('node_modules/vitest/vitest.mjs'), 'run']))) failed.push(`tests on ${major}`)
    console.log(`\n== Node ${major}: ${LOAD_SECONDS} s of mixed load`)
    const load = [
      path('node_modules/tsx/dist/cli.mjs'),
      path('test/chaos/run.ts'),
      'mixed',
      `${LOAD_SECONDS}`,
    ]
    if (!(await runs(node, load))) failed.push(`mixed load on ${major}`)
  }
  console.log(
    failed.length === 0 ? `\npassed on Node ${majors.join(', ')}` : `\nFAILED: ${failed.join('; ')}`,
  )
  return failed.length === 0
}

async function runs(node: string, args: string[]): Promise<boolean> {
  const child = spawn(node, args, { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  return code === 0
}
