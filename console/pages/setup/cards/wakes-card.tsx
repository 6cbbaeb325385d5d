/** Wakes when: the triggers of the plan, with their numbers to change in place. */
import { Group, Text, TextInput } from '@mantine/core'
import { Suspense, useRef, useState } from 'react'
import type { PlanKnob, PlanWake } from '../../../../schemas/types.ts'
import type { Edited } from '../../../graph/editor/forms/schema-form.tsx'
import { lazyFrom } from '../../../lib/chunks.ts'
import { blankFaults, marksOf } from '../../../lib/field-errors.ts'
import { withWake } from '../../../lib/plan-edit.ts'
import { PlannedSources, plannedSource } from '../../../lib/planned-sources.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { NumberInput } from '../../../parts/number-input.tsx'
import { LoadingRows } from '../../../parts/states.tsx'
import type { EditedPlan } from '../use-plan.ts'
import { Card, Entry, EntryDialog, freeKey, withoutRow } from './card.tsx'

const TriggerForm = lazyFrom(() => import('../../../graph/editor/forms/trigger-form.tsx'))('TriggerForm')

export function WakesCard({ plan, problems, edit }: EditedPlan) {
  const [open, setOpen] = useState<PlanWake | null>(null)
  const put = (wake: PlanWake) => edit((now) => withWake(now, wake))
  return (
    <Card
      title="Wakes when"
      section="wakes"
      problems={problems}
      add={{
        label: 'Add a trigger',
        onAdd: () =>
          setOpen({
            ...NEW,
            key: freeKey('k', plan.wakes),
            sources: plan.watches.length === 1 ? [plan.watches[0]!.name] : [],
          }),
      }}
    >
      {plan.wakes.map((wake) => (
        <Entry
          key={wake.key}
          name={wake.name}
          where={`wakes.${wake.key}`}
          problems={problems}
          sentence={wake.sentence && `${wake.sentence}.`}
          onEdit={() => setOpen(wake)}
          onRemove={() => edit((now) => ({ ...now, wakes: withoutRow(now.wakes, wake.key) }))}
        >
          {wake.cooldown_sentence && (
            <Text size="sm" c="dimmed">
              {wake.cooldown_sentence}.
            </Text>
          )}
          <Group gap="sm" mt="xs" align="flex-end">
            {wake.knobs.map((knob) => (
              <Knob
                key={knob.id}
                knob={knob}
                trigger={wake.name}
                onTurn={(value) =>
                  put({
                    ...wake,
                    knobs: wake.knobs.map((other) => (other.id === knob.id ? { ...other, value } : other)),
                  })
                }
              />
            ))}
          </Group>
        </Entry>
      ))}
      {open && (
        <PlannedSources.Provider
          value={plan.watches
            .filter(({ existing }) => !existing)
            .map(({ name, sample, ...spec }) => plannedSource(name, spec, sample))}
        >
          <WakeDialog
            wake={open}
            onClose={() => setOpen(null)}
            onKeep={(wake) => {
              put(wake)
              setOpen(null)
            }}
          />
        </PlannedSources.Provider>
      )}
    </Card>
  )
}

const NEW: PlanWake = {
  key: '',
  name: '',
  sources: [],
  filters: [],
  key_field: '',
  condition: {},
  cooldown: '',
  window: '',
  sentence: '',
  cooldown_sentence: '',
  knobs: [],
}

function Knob({
  knob,
  trigger,
  onTurn,
}: {
  knob: PlanKnob
  trigger: string
  onTurn: (value: number) => void
}) {
  return (
    <NumberInput
      label={knob.label}
      aria-label={`${knob.label}, of ${trigger}`}
      value={knob.value}
      min={knob.min}
      max={knob.max}
      allowDecimal={knob.id === 'threshold'}
      onChange={(value) => {
        if (typeof value === 'number') onTurn(value)
      }}
      w={190}
    />
  )
}

/** What is typed in the dialog. */
interface Kept {
  name: string
  typed: Edited['after'] | null
}

function WakeDialog({
  wake: start,
  onClose,
  onKeep,
}: {
  wake: PlanWake
  onClose: () => void
  onKeep: (wake: PlanWake) => void
}) {
  const isNew = start.name === ''
  const kept = useDraft<Kept>({ form: `plan:wake:${start.key}`, start: { name: start.name, typed: null } })
  const { name } = kept.value
  const [found] = useState(kept.value.typed)
  const isRestored = kept.restored !== null
  const [edited, setEdited] = useState<Edited | null>(null)
  // The form of a new trigger tells how it begins, which nobody typed.
  const isBeginning = useRef(isNew && !isRestored)
  const take = (now: Edited) => {
    setEdited(now)
    const next = (of: Kept): Kept => ({ ...of, typed: now.after })
    if (isBeginning.current) kept.begin(next)
    else kept.set(next)
    isBeginning.current = false
  }
  return (
    <EntryDialog
      title={isNew ? 'Add a trigger' : `Trigger ${start.name}`}
      onClose={onClose}
      onCancel={kept.discard}
      missing={{ ...blankFaults({ name }, ['name']), ...edited?.missing }}
      // The fields of a new trigger come from its form, which is loaded when the dialog opens.
      isLoading={isNew && edited === null}
      onKeep={() => {
        kept.done()
        onKeep(edited ? { ...start, name, ...wakeOf(edited.after) } : { ...start, name })
      }}
    >
      {(shown) => (
        <>
          <DraftRestored of={kept} />
          <TextInput
            label="Name"
            data-autofocus
            {...marksOf(shown)('name')}
            value={name}
            onChange={({ currentTarget: { value } }) => kept.set((now) => ({ ...now, name: value }))}
            maxLength={60}
            withAsterisk
          />
          <Suspense fallback={<LoadingRows rows={3} />}>
            <TriggerForm
              key={String(isRestored)}
              name={name}
              spec={isNew ? { sources: start.sources } : specOf(start)}
              {...(isRestored && found ? { typed: found } : {})}
              isNew={isNew}
              configured={[]}
              errors={shown}
              onEdit={take}
            />
          </Suspense>
        </>
      )}
    </EntryDialog>
  )
}

function specOf({ kind, window: shown, cooldown, description, ...wake }: PlanWake) {
  const emit = { ...(kind ? { kind } : {}), ...(shown ? { context_window: shown } : {}) }
  return { ...wake, emit, ...(description ? { description } : {}), ...(cooldown ? { cooldown } : {}) }
}

/** What the form says; its numbers are those of the text, so the knobs are read anew. */
function wakeOf(after: Record<string, unknown>): Partial<PlanWake> {
  const { description, cooldown, emit, ...said } = after as Partial<PlanWake> & {
    emit?: { kind?: string | null; context_window?: string | null } | null
  }
  return {
    // What the form says no more is taken from the plan.
    ...{ severity: undefined, severity_field: undefined, joined: undefined, storm: undefined },
    ...said,
    description: description ?? '',
    cooldown: cooldown ?? '',
    kind: emit?.kind ?? undefined,
    window: emit?.context_window ?? '',
    knobs: [],
  }
}
