/** One look of the assistant: which tool, how long it took, and on demand what was asked and answered. */
import { Text } from '@mantine/core'
import { CircleAlert, CircleCheck, CircleDashed } from 'lucide-react'
import { ownField } from '../../../schemas/fields-of.ts'
import type { AskBlock } from '../../lib/ask.ts'
import { readOf } from '../../lib/folds.ts'
import { took } from '../../lib/time.ts'
import { Fold, TextBlock } from '../../parts/fold.tsx'
import { Unfold } from '../../parts/unfold.tsx'

type Call = Extract<AskBlock, { kind: 'tool' }>

export function ToolCall({ call }: { call: Call }) {
  const { name, input, ms, ok, preview, folds } = call
  const request = name === 'read' ? readOf(input) : null
  const Icon = ok === null ? CircleDashed : ok ? CircleCheck : CircleAlert
  return (
    <div className="ask-tool" data-state={ok === null ? 'busy' : ok ? 'good' : 'bad'}>
      <Icon size={15} aria-hidden className="ask-tool-mark" />
      <Fold
        title={wordsOf(name)}
        hint={`${shortInput(input)}${ms === null ? '' : ` · ${took(ms)}`}${ok === false ? ' · refused' : ''}`}
      >
        <Text size="xs" c="dimmed" mt={4}>
          Asked
        </Text>
        <TextBlock text={JSON.stringify(input, null, 2)} label={`Copy: what ${name} was asked`} />
        {ok !== null && (
          <>
            <Text size="xs" c="dimmed" mt={4}>
              Answered
            </Text>
            <TextBlock text={preview} label={`Copy: what ${name} answered`} />
            {request && <Unfold folds={folds} request={request} />}
          </>
        )}
      </Fold>
    </div>
  )
}

const WORDS: Record<string, string> = {
  read: 'Read a timeline',
  stats: 'Counted',
  why: 'Looked why',
  describe: 'Looked at',
  catalog: 'Looked through the catalog',
  entities: 'Looked for entities',
  findings: 'Looked through findings',
  firings: 'Looked through firings',
  runs: 'Looked through runs',
  source_fields: 'Looked at fields',
  recent_events: 'Looked at recent events',
  detect_template: 'Looked what is there for',
}

const wordsOf = (name: string): string => {
  const text = ownField(WORDS, name) ?? name.replace(/^list_/, 'listed ').replaceAll('_', ' ')
  return text[0]!.toUpperCase() + text.slice(1)
}

/** The arguments in a line. */
function shortInput(input: Record<string, unknown>): string {
  const parts = Object.entries(input).flatMap(([field, value]) => {
    if (field === 'reasoning' || field === 'spec' || field === 'prompt') return []
    if (typeof value === 'object' && value !== null)
      return Array.isArray(value)
        ? value.filter((one) => typeof one !== 'object').map(String)
        : Object.entries(value).map(([name, of]) => (typeof of === 'object' ? name : `${name}=${of}`))
    return [String(value)]
  })
  const text = parts.join(' ')
  return text.length > 80 ? `${text.slice(0, 79)}…` : text
}
