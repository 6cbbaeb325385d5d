/**
 * A trigger as a sentence: when what happens on which sources, whom it tells, and how often. What few need is
 * folded below it. The pages of triggers and the graph of a project have this same form.
 */
import { Alert, Button, MultiSelect, Select, Stack } from '@mantine/core'
import { type ReactNode, useContext } from 'react'
import { type OfAlerts, saysState, UP } from '../../../schemas/alert-words.ts'
import { api, keys } from '../../client.ts'
import { alertFields, alertsOf, lacks, lacksOver } from '../../lib/alert-trigger.ts'
import { faultAt } from '../../lib/field-errors.ts'
import { PlannedSources } from '../../lib/planned-sources.ts'
import type { TriggerDraft } from '../../lib/trigger-draft.ts'
import { useChoices } from '../../parts/choices.tsx'
import { DurationInput } from '../../parts/duration-input.tsx'
import { ConditionFields, GroupBy } from './condition-fields.tsx'
import { FilterRows } from './filter-rows.tsx'
import { Line, Slot, Words } from './line.tsx'
import { MoreOptions } from './more-options.tsx'
import type { Part } from './part.ts'

interface Props extends Part {
  /** Whom it tells, where that is edited here. */
  notify?: ReactNode
  /** What it would have done. */
  verdict?: ReactNode
}

export function TriggerFields({ notify, verdict, ...part }: Props) {
  const { draft, set, errors, known } = part
  return (
    <div className="sentence-form">
      <Stack gap={8} role="group" aria-label="Trigger">
        <ConditionFields {...part} />
        <Line>
          <Words>{draft.kind === 'schedule' ? 'of events on' : 'on'}</Words>
          <Sources {...part} />
        </Line>
        <FilterRows
          rows={draft.filters}
          onChange={(rows) => set('filters', rows)}
          known={known.fields}
          errors={errors}
          path="filters"
          isSentence
        />
        <Line>
          {draft.kind !== 'schedule' && <GroupBy {...part} />}
          <Incident {...part} />
        </Line>
        {notify}
        {(draft.kind !== 'schedule' || verdict) && (
          <div className="sentence-last">
            {draft.kind !== 'schedule' && <Cooldown {...part} />}
            {verdict}
          </div>
        )}
      </Stack>
      <MoreOptions {...part} />
    </div>
  )
}

function Sources({ draft, set, errors }: Part) {
  // Whether they are of alerts matters only where something could lack.
  const isNeeded = draft.sources.length > 0 && lacks(draft, UP)
  const sources = useChoices('sources', { queryKey: keys.sources, queryFn: api.sources }, isNeeded)
  const planned = useContext(PlannedSources)
  const known = [...planned, ...(sources.data ?? [])]
  const names = [...draft.sources, ...known.map(({ name }) => name)]
  const alerts = alertsOf(draft.sources, known)
  const take = (of: OfAlerts) => {
    const said = Object.entries(alertFields(draft, of)) as [keyof TriggerDraft, never][]
    for (const [field, value] of said) set(field, value)
  }
  const choose = (chosen: string[]) => {
    set('sources', chosen)
    const of = alerts ? null : alertsOf(chosen, known)
    if (of && draft.filters.length === 0 && lacks(draft, of)) take(of)
  }
  return (
    <>
      <Slot path="sources" width={300}>
        <MultiSelect
          aria-label="Sources"
          placeholder={draft.sources.length ? '' : 'Choose a source'}
          data={[...new Set(names)]}
          value={draft.sources}
          onChange={choose}
          error={faultAt(errors, 'sources')}
          searchable
          {...sources.field}
        />
      </Slot>
      {alerts && lacks(draft, alerts) && (
        <Alert p="xs" w="100%">
          {!saysState(alerts, draft.filters)
            ? 'An alert comes a second time when it is over, and trips this trigger again.'
            : lacksOver(draft, alerts)
              ? 'Nothing ends the incident when its alerts are over.'
              : 'Every alert opens an incident of one severity.'}
          <Button size="compact-sm" variant="default" mt={6} display="block" onClick={() => take(alerts)}>
            {!saysState(alerts, draft.filters)
              ? 'Only alerts that come up, by their severity'
              : lacksOver(draft, alerts)
                ? 'End it with the last of its alerts'
                : 'Go by the severity of the alert'}
          </Button>
        </Alert>
      )}
    </>
  )
}

const SEVERITIES = [
  { value: 'critical', label: 'critical' },
  { value: 'warning', label: 'warning' },
  { value: 'info', label: 'info' },
  { value: 'none', label: 'no' },
]

/** "open a [warning] incident"; a schedule opens none unless it is said. */
function Incident({ draft, set, errors }: Part) {
  const byDefault = draft.kind === 'schedule' ? 'none' : 'warning'
  const severity = draft.severity || byDefault
  return (
    <>
      <Words>open {severity === 'none' ? '' : severity === 'info' ? 'an' : 'a'}</Words>
      <Slot path="severity" width={120}>
        <Select
          aria-label="Severity"
          data={SEVERITIES}
          value={severity}
          onChange={(value) => {
            const chosen = (value ?? '') as TriggerDraft['severity']
            // The default stays one where none was chosen.
            set('severity', chosen === byDefault && draft.severity === '' ? '' : chosen)
          }}
          error={faultAt(errors, 'severity')}
          allowDeselect={false}
        />
      </Slot>
      <Words>incident{draft.severity_field && `, or as ${draft.severity_field} says`}</Words>
    </>
  )
}

function Cooldown({ draft, set, errors }: Part) {
  return (
    <Line>
      <Words>At most once every</Words>
      <Slot path="cooldown" width={80}>
        <DurationInput
          aria-label="Cooldown"
          value={draft.cooldown}
          onChange={(value) => set('cooldown', value)}
          fault={faultAt(errors, 'cooldown')}
          w="100%"
        />
      </Slot>
      <Words>per {draft.group_by.join(' and ') || draft.key_field || 'entity'}</Words>
    </Line>
  )
}
