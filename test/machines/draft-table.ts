/** What the lifecycle of a draft takes, written down apart from the machine, as tables.ts has the others. */
import type { Situation } from './situation.ts'

const fixed = (fix_rounds: number) => ({ fix_rounds })
const shown = (text: string) => [{ type: 'show_step', params: { text } }]
const steps_end = (as: 'done' | 'stopped') => ({ type: 'end_steps', params: { as } })
const fault = (reason: string | null, no_provider = false) => ({
  type: 'note_fault',
  params: { reason, no_provider },
})
const underWay = {
  fail: {
    to: 'failed',
    brings: { reason: 'no model provider', no_provider: true },
    effects: [steps_end('stopped'), fault('no model provider', true)],
  },
  interrupted: {
    to: 'interrupted',
    effects: [steps_end('stopped'), fault('svc was stopped while this was planned; plan it again')],
  },
  discard: { to: 'discarded', effects: [steps_end('stopped')] },
}
const look = {
  to: 'looking',
  brings: { source: 'web-log' },
  effects: shown('Looking at what web-log sends'),
}
const write = { to: 'writing', effects: shown('Writing the plan') }
const check = { to: 'checking', effects: shown('Checking the plan') }
const atRest = {
  replan: {
    to: 'reading',
    context: fixed(0),
    brings: { who: 'own', instruction: 'fewer agents' },
    effects: [{ type: 'begin_again', params: { who: 'own', instruction: 'fewer agents' } }],
  },
  edit: { to: 'ready', brings: { problems: 0 }, effects: [fault(null)] },
  discard: 'discarded',
}
const editedInto = (to: string, problems: number) => ({
  edit: { to, brings: { problems }, effects: [fault(null)] },
})
export const draft: Situation[] = [
  { state: 'reading', context: fixed(0), takes: { look, write, ...underWay } },
  { state: 'looking', context: fixed(0), takes: { look, write, ...underWay } },
  { state: 'writing', context: fixed(0), takes: { look, write, check, ...underWay } },
  ...[0, 1, 2].map((n) => ({
    state: 'checking',
    context: fixed(n),
    takes: {
      pass: { to: 'ready', effects: [steps_end('done')] },
      problems: {
        to: 'fixing',
        context: fixed(n + 1),
        brings: { problems: n + 1 },
        effects: shown(n ? `Fixing ${n + 1} things the check found` : 'Fixing 1 thing the check found'),
      },
      ...underWay,
    },
  })),
  {
    state: 'checking',
    context: fixed(3),
    takes: {
      pass: { to: 'ready', effects: [steps_end('done')] },
      problems: { to: 'faulty', effects: [steps_end('done')] },
      ...underWay,
    },
  },
  {
    state: 'fixing',
    context: fixed(1),
    takes: { check: { to: 'checking', effects: shown('Checking again') }, ...underWay },
  },
  {
    state: 'ready',
    context: fixed(3),
    takes: { ...atRest, apply: 'applied' },
  },
  {
    state: 'ready',
    context: fixed(0),
    takes: {
      ...atRest,
      ...editedInto('faulty', 2),
      apply: 'applied',
    },
  },
  {
    state: 'faulty',
    context: fixed(3),
    takes: { ...atRest, edit: { to: 'faulty', effects: [fault(null)] } },
  },
  { state: 'faulty', context: fixed(2), takes: atRest },
  { state: 'failed', context: fixed(1), takes: atRest },
  { state: 'interrupted', context: fixed(1), takes: atRest },
  ...['failed', 'interrupted'].map((state) => ({
    state,
    context: fixed(0),
    takes: { ...atRest, ...editedInto('faulty', 1) },
  })),
  { state: 'discarded', context: fixed(1), takes: { restore: 'interrupted' } },
  {
    state: 'applied',
    context: fixed(1),
    takes: { unapply: { to: 'ready', effects: [{ type: 'forget_key' }] } },
  },
]
