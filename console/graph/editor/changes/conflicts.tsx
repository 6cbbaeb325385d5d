/** Fields that somebody else changed meanwhile, too: mine or theirs, one by one. */
import { Alert, Button, Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core'
import { GitMerge } from 'lucide-react'
import { useState } from 'react'
import type { MergeConflict } from '../../../../schemas/types.ts'
import { placeName } from '../../../lib/changed-fields.ts'
import { KIND_WORDS, valueText } from '../../../lib/fields.ts'
import { conflictKey, rebased, type Side } from '../../draft/rebase.ts'
import type { Editor } from '../state/use-editor.ts'

/** Chosen once, it holds until theirs is another: what others change elsewhere meanwhile asks nothing again. */
const seenAs = (conflict: MergeConflict): string => conflictKey(conflict) + JSON.stringify(conflict.theirs)

export function Conflicts({ editor }: { editor: Editor }) {
  const { answer } = editor.preview
  const [choice, setChoice] = useState<ReadonlyMap<string, Side>>(new Map())
  if (!answer || answer.conflicts.length === 0 || !editor.draft) return null
  const open = answer.conflicts.filter((conflict) => !choice.has(seenAs(conflict)))
  const chooseAll = (side: Side) =>
    setChoice(new Map(answer.conflicts.map((conflict) => [seenAs(conflict), side])))
  return (
    <Alert
      color="orange"
      role="alert"
      icon={<GitMerge size={18} aria-hidden />}
      title="Somebody else changed the same fields"
    >
      <Stack gap="sm">
        <Text size="sm">
          Choose what holds for each; then the draft continues from their version. Nothing is written yet.
        </Text>
        {answer.conflicts.map((conflict) => (
          <Conflict
            key={conflictKey(conflict)}
            conflict={conflict}
            side={choice.get(seenAs(conflict)) ?? null}
            onChoose={(side) => setChoice((now) => new Map(now).set(seenAs(conflict), side))}
          />
        ))}
        <Group>
          <Button size="xs" variant="default" onClick={() => chooseAll('mine')}>
            Keep all of mine
          </Button>
          <Button size="xs" variant="default" onClick={() => chooseAll('theirs')}>
            Take all of theirs
          </Button>
          <Button
            size="xs"
            disabled={open.length > 0}
            onClick={() => {
              const sides = new Map(
                answer.conflicts.map((one) => [conflictKey(one), choice.get(seenAs(one))!]),
              )
              editor.replace(rebased(editor.draft!, answer.version, answer.conflicts, sides))
              editor.say('The draft continues from their version.')
            }}
          >
            Rebase the draft
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

function Conflict({
  conflict,
  side,
  onChoose,
}: {
  conflict: MergeConflict
  side: Side | null
  onChoose: (side: Side) => void
}) {
  const field = `${KIND_WORDS[conflict.kind]?.one} ${conflict.name}: ${placeName(conflict.path, conflict.kind)}`
  return (
    <Paper withBorder p="xs" radius="md">
      <Group justify="space-between" align="flex-start">
        <div style={{ minWidth: 0, flex: '1 1 240px' }}>
          <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
            {field}
          </Text>
          <dl className="conflict-values">
            <Value word="Before" value={conflict.base} of={conflict} />
            <Value word="Mine" value={conflict.mine} of={conflict} />
            <Value word="Theirs" value={conflict.theirs} of={conflict} />
          </dl>
        </div>
        <SegmentedControl
          size="xs"
          aria-label={`What holds for ${field}`}
          value={side ?? ''}
          onChange={(value) => onChoose(value as Side)}
          data={[
            { value: 'mine', label: 'Keep mine' },
            { value: 'theirs', label: 'Take theirs' },
          ]}
        />
      </Group>
    </Paper>
  )
}

function Value({ word, value, of }: { word: string; value: unknown; of: MergeConflict }) {
  return (
    <>
      <dt>{word}</dt>
      <dd className="mono">{valueText(value, of)}</dd>
    </>
  )
}
