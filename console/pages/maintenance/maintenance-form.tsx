/** Plans maintenance: what the work is, of what, how long it lasts, and whether it repeats. */
import { Modal, MultiSelect, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import type { EntitiesResult, MaintenanceCreate } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { blankFaults, fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { fromLocalInput, toLocalInput } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useShownFaults } from '../../lib/use-shown-faults.ts'
import { maintenance } from '../../maintenance-client.ts'
import { useChoices } from '../../parts/choices.tsx'
import { DialogFoot } from '../../parts/dialog-foot.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'

const MINUTE_MS = 60_000
/** Values of each label that are suggested. */
const KNOWN = 200
const LENGTHS = [
  { value: '30', label: '30 minutes' },
  { value: '60', label: '1 hour' },
  { value: '120', label: '2 hours' },
  { value: '240', label: '4 hours' },
  { value: '480', label: '8 hours' },
  { value: '1440', label: '24 hours' },
  { value: 'until', label: 'Until a time' },
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
/** @param begins the first of it */
const repeatsOf = (begins: Date) => [
  { value: 'never', label: 'Never' },
  { value: 'day', label: 'Every day' },
  { value: 'weekdays', label: 'Monday to Friday' },
  { value: 'week', label: `Every ${DAYS[begins.getDay()]}` },
  { value: 'cron', label: 'At the times of a cron expression' },
]

interface Draft {
  reason: string
  entities: string[]
  triggers: string[]
  project: string | null
  /** ISO 8601; null: now. */
  from: string | null
  /** Minutes, or `until`. */
  length: string
  until: string | null
  repeats: string
  cron: string
}

const NEW: Draft = {
  ...{ reason: '', entities: [], triggers: [], project: null, from: null, length: '60', until: null },
  ...{ repeats: 'never', cron: '' },
}

/** As label=value. */
const namesOf = (known: EntitiesResult | undefined): string[] =>
  (known?.labels ?? []).flatMap(({ label, values }) => values.map(({ value }) => `${label}=${value}`))

/** Begins when the first of it does. @param begins epoch ms */
function repeatOf({ repeats, cron }: Draft, begins: number): MaintenanceCreate['repeat'] {
  if (repeats === 'never') return null
  const at = new Date(begins)
  const days = { day: '*', weekdays: '1-5', week: String(at.getDay()) }[repeats]
  return {
    cron: days === undefined ? cron.trim() : `${at.getMinutes()} ${at.getHours()} * * ${days}`,
    time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

/** @param now epoch ms */
function writeOf(draft: Draft, now: number): MaintenanceCreate {
  const { reason, entities, triggers, project, length, from, until } = draft
  const of = { reason: reason.trim(), entities, triggers, project }
  const begins = from === null ? now : Date.parse(from)
  const repeat = repeatOf(draft, begins)
  // Its times have no seconds: the one that is to begin now began with the minute.
  if (repeat)
    return { ...of, from: isoOf(Math.floor(begins / MINUTE_MS) * MINUTE_MS), for: `${length}m`, repeat }
  return { ...of, from, until: length === 'until' ? until! : isoOf(begins + Number(length) * MINUTE_MS) }
}

const isoOf = (ms: number): string => new Date(ms).toISOString()

const faultsOf = (draft: Draft): Record<string, string> => ({
  ...blankFaults(draft, ['reason']),
  ...(draft.entities.length === 0 && draft.triggers.length === 0 && draft.project === null
    ? { entities: 'Choose an entity, a trigger or a project' }
    : {}),
  ...(draft.length === 'until' && draft.until === null ? { until: 'This is required' } : {}),
  ...(draft.repeats === 'cron' ? blankFaults(draft, ['cron'], 'repeat.') : {}),
})

export function MaintenanceForm({ onClose }: { onClose: () => void }) {
  const kept = useDraft({ form: 'maintenance', start: NEW })
  // One that was kept by an older console has fewer fields.
  const draft = { ...NEW, ...kept.value }
  const set = (some: Partial<Draft>) => kept.set((now) => ({ ...now, ...some }))
  const faults = useShownFaults(faultsOf(draft))
  const plan = useChange(maintenance.create, {
    said: ({ state, reason }) => `${state === 'planned' ? 'Planned' : 'Started'}: ${reason}`,
    onDone: () => {
      kept.fill(NEW)
      onClose()
    },
    quiet: true,
  })
  const mark = marksOf({ ...fieldErrors(plan.error), ...faults.shown })
  return (
    <Modal opened onClose={onClose} title="Plan maintenance" closeOnClickOutside={false} centered size="lg">
      <form
        noValidate
        onBlur={faults.form.onBlur}
        onSubmit={(event) => {
          event.preventDefault()
          faults.showAll()
          if (Object.keys(faultsOf(draft)).length === 0) plan.mutate(writeOf(draft, Date.now()))
        }}
      >
        <Stack>
          <DraftRestored of={kept} />
          <TextInput
            label="What is the work?"
            placeholder="Upgrade of the orders database"
            value={draft.reason}
            onChange={({ currentTarget: { value } }) => set({ reason: value })}
            maxLength={200}
            withAsterisk
            data-autofocus
            {...mark('reason')}
          />
          <Scope draft={draft} set={set} mark={mark} />
          <Times draft={draft} set={set} mark={mark} />
          <Repeats draft={draft} set={set} mark={mark} />
          <Refusal title="Couldn’t plan the maintenance" error={plan.error} />
          <DialogFoot draft={kept} onClose={onClose} word="Plan maintenance" isSending={plan.isPending} />
        </Stack>
      </form>
    </Modal>
  )
}

interface Fields {
  draft: Draft
  set: (some: Partial<Draft>) => void
  mark: ReturnType<typeof marksOf>
}

/** What the work is of. */
function Scope({ draft, set, mark }: Fields) {
  const entities = useChoices('entities', {
    queryKey: [...keys.entities, KNOWN],
    queryFn: () => api.entities(KNOWN),
  })
  const triggers = useChoices('triggers', { queryKey: dkeys.triggers, queryFn: declared.triggers })
  const projects = useChoices(
    'projects',
    { queryKey: dkeys.projects, queryFn: declared.projects },
    draft.project !== null,
  )
  return (
    <>
      <TagsInput
        label="Entities"
        description="As label=value. Firings of these are held back"
        placeholder={draft.entities.length === 0 ? 'service=checkout' : ''}
        data={namesOf(entities.data)}
        limit={50}
        value={draft.entities}
        onChange={(entities) => set({ entities: entities.map((one) => one.trim()) })}
        maxTags={50}
        acceptValueOnBlur
        {...mark('entities')}
        onFocus={entities.field.onFocus}
        onPointerEnter={entities.field.onPointerEnter}
      />
      <MultiSelect
        label="Triggers"
        description="Optional. Only firings of these"
        data={(triggers.data ?? []).map(({ name }) => name)}
        value={draft.triggers}
        onChange={(names) => set({ triggers: names })}
        searchable
        clearable
        {...mark('triggers')}
        {...triggers.field}
      />
      <Select
        label="Project"
        description="Optional. Only firings of its triggers"
        data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
        value={draft.project}
        onChange={(project) => set({ project })}
        searchable
        clearable
        {...mark('project')}
        {...projects.field}
      />
    </>
  )
}

function Times({ draft, set, mark }: Fields) {
  return (
    <>
      <TextInput
        type="datetime-local"
        label="Begins"
        description="Default: now"
        value={draft.from === null ? '' : toLocalInput(draft.from).slice(0, 16)}
        onChange={({ currentTarget: { value } }) => set({ from: fromLocalInput(value) })}
        {...mark('from')}
      />
      <Select
        label="Lasts"
        data={draft.repeats === 'never' ? LENGTHS : LENGTHS.filter(({ value }) => value !== 'until')}
        value={draft.length}
        onChange={(length) => set({ length: length! })}
        allowDeselect={false}
        {...(draft.length === 'until' ? {} : mark(draft.repeats === 'never' ? 'until' : 'for'))}
      />
      {draft.length === 'until' && (
        <TextInput
          type="datetime-local"
          label="Ends"
          value={draft.until === null ? '' : toLocalInput(draft.until).slice(0, 16)}
          onChange={({ currentTarget: { value } }) => set({ until: fromLocalInput(value) })}
          withAsterisk
          {...mark('until')}
        />
      )}
    </>
  )
}

function Repeats({ draft, set, mark }: Fields) {
  return (
    <>
      <Select
        label="Repeats"
        data={repeatsOf(draft.from === null ? new Date() : new Date(draft.from))}
        value={draft.repeats}
        // One that repeats has no end of its own.
        onChange={(repeats) =>
          set({
            repeats: repeats!,
            ...(repeats !== 'never' && draft.length === 'until' ? { length: '60', until: null } : {}),
          })
        }
        allowDeselect={false}
        {...(draft.repeats === 'cron' ? {} : mark('repeat'))}
      />
      {draft.repeats === 'cron' && (
        <TextInput
          label="Cron expression"
          description={`Minute, hour, day of month, month, day of week, in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`}
          placeholder="0 2 1 * *"
          className="mono-input"
          value={draft.cron}
          onChange={({ currentTarget: { value } }) => set({ cron: value })}
          maxLength={120}
          withAsterisk
          {...mark('repeat.cron')}
        />
      )}
    </>
  )
}
