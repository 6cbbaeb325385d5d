/** The form of a trigger: a plain sentence changes as one types, and beside it what it would have done. */
import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { PartWritten, Trigger, TriggerWrite } from '../../../schemas/types.ts'
import { cooldownSentence, sentenceOf } from '../../../schemas/words.ts'
import { type FieldErrors, faultAt, fieldErrors } from '../../lib/field-errors.ts'
import { countsEvents, type TriggerDraft } from '../../lib/trigger-draft.ts'
import { definitionOf, isComplete, storedDefinition, writeOf } from '../../lib/trigger-form.ts'
import { useChange } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { useKnownFields } from '../../lib/use-known-fields.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Warnings, warningsBeside } from '../../parts/warnings.tsx'
import { BacktestPanel } from './backtest-panel.tsx'
import { TriggerFields } from './trigger-fields.tsx'
import { useBacktest } from './use-backtest.ts'

interface Props {
  start: TriggerDraft
  /** Absent for a new one. */
  stored?: Trigger
  save: (body: TriggerWrite, version: number | undefined) => Promise<PartWritten>
  onSaved?: (result: PartWritten) => void
  /** Of the last save: saving fills the form in anew. */
  warnings?: readonly string[]
  /** Fills the form in again from what is stored now. */
  onTakeTheirs?: () => void
  label: string
  /** It is filled in with what Ask proposed. */
  isProposed?: boolean
}

export function TriggerEditor({
  start,
  stored,
  isProposed = false,
  save,
  onSaved,
  warnings,
  onTakeTheirs,
  label,
}: Props) {
  const kept = useDraft({ form: 'trigger', start, version: stored?.version, isGiven: isProposed })
  const { value: draft, set: setDraft } = kept
  const [window, setWindow] = useState('24h')
  const set = <K extends keyof TriggerDraft>(field: K, value: TriggerDraft[K]) =>
    setDraft((now) => ({ ...now, [field]: value }))
  const change = useChange((version: number | undefined) => save(writeOf(draft, stored), version), {
    said: (result) => `${result.name} is saved`,
    onDone: (result) => {
      kept.done()
      onSaved?.(result)
    },
    quiet: true,
    showsWarnings: true,
  })
  const definition = isComplete(draft) ? definitionOf(draft, stored) : null
  const isChanged = JSON.stringify(definition) !== JSON.stringify(definitionOf(start, stored))
  const compare = stored && isChanged ? storedDefinition(stored) : null
  const trial = useBacktest(definition, compare, window)
  const known = useKnownFields(draft.sources)
  // What a save said goes first: it is about everything, a trial only about what is evaluated.
  const errors: FieldErrors = { ...fieldErrors(trial.error), ...fieldErrors(change.error) }
  const part = { draft, set, errors, known }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(kept.version)
      }}
    >
      <div className="editor-columns">
        <Stack gap="md" style={{ minWidth: 0 }}>
          <DraftRestored of={kept} />
          <Sentence draft={draft} stored={stored} />
          {!stored && (
            <TextInput
              label="Name"
              value={draft.name}
              onChange={(e) => set('name', e.currentTarget.value)}
              error={faultAt(errors, 'name')}
              required
              maxLength={64}
              data-autofocus
              maw={420}
            />
          )}
          <TriggerFields {...part} />
          <Warnings of={warningsBeside(warnings, stored?.warnings)} />
          <Refusal
            error={change.error}
            {...(onTakeTheirs ? { onTakeTheirs: takeTheirs(kept, onTakeTheirs) } : {})}
            onKeepMine={() => change.mutate(undefined)}
          />
          <Group>
            <Button
              type="submit"
              loading={change.isPending}
              disabled={draft.name.trim() === '' || draft.sources.length === 0}
            >
              {label}
            </Button>
          </Group>
        </Stack>
        <div className="editor-side">
          <BacktestPanel
            definition={definition}
            window={window}
            onWindow={setWindow}
            trial={trial}
            {...(draft.kind === 'threshold'
              ? {
                  number: {
                    value: draft.number,
                    set: (value: string) => set('number', value),
                    isWhole: countsEvents(draft.aggregate) && draft.aggregate !== 'rate',
                  },
                }
              : {})}
          />
        </div>
      </div>
    </form>
  )
}

/** What it does, in the words the lists and firings use; with a description, also what it stands for. */
function Sentence({ draft, stored }: { draft: TriggerDraft; stored: Trigger | undefined }) {
  const told = definitionOf(draft, stored)
  const description = draft.description.trim()
  return (
    <Alert color="indigo" role="status" className="sentence">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {sentenceOf({ ...told, description })}.
      </Text>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {description && `${sentenceOf(told)}. `}
        {cooldownSentence(told)}.
      </Text>
    </Alert>
  )
}
