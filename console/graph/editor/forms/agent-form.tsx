/** The fields of an agent, as its page has them; what the page leaves out is made of the schema. */

import { Accordion, Stack } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { FieldsOf } from '../../../../schemas/fields-of.ts'
import type { Agent } from '../../../../schemas/types.ts'
import { type AgentDraft, draftOf, NEW_AGENT, writeOf } from '../../../lib/agent-form.ts'
import { blankFaults } from '../../../lib/field-errors.ts'
import { AgentFields } from '../../../pages/agents/agent-fields.tsx'
import type { Fields } from '../../draft/values.ts'
import { SPEC_SCHEMAS } from '../state/specs.ts'
import { type FormProps, only, SchemaForm } from './schema-form.tsx'

/** Fields of the schema that have no control of their own. */
const OTHERS = Object.keys(SPEC_SCHEMAS.agent.properties).filter((field) => !Object.hasOwn(NEW_AGENT, field))

export function AgentForm(props: FormProps) {
  const { name, spec, typed, isNew, configured, errors, onEdit } = props
  const [start] = useState<AgentDraft>(() => draftOf({ ...(spec as Partial<FieldsOf<Agent>>), name }))
  const [draft, setDraft] = useState(() =>
    typed ? draftOf({ ...(typed as Partial<FieldsOf<Agent>>), name }) : start,
  )
  const others = useRef<Fields>(only(typed ?? spec, OTHERS))
  const told = (next: AgentDraft) =>
    onEdit({
      before: isNew ? {} : { ...specOf(start), ...only(spec, OTHERS) },
      after: { ...specOf(next), ...others.current },
      missing: blankFaults({ prompt: next.prompt }, ['prompt']),
    })
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was typed before, or what a new agent lacks, is told once.
  useEffect(() => {
    if (typed || isNew) told(draft)
  }, [])
  const set = <K extends keyof AgentDraft>(field: K, value: AgentDraft[K]) =>
    setDraft((now) => {
      const next = { ...now, [field]: value }
      queueMicrotask(() => told(next))
      return next
    })
  return (
    <Stack gap="md">
      <AgentFields
        draft={draft}
        set={set}
        errors={errors}
        tokenStored={configured.includes('/webhook_token')}
      />
      <Accordion variant="contained">
        <Accordion.Item value="more">
          <Accordion.Control>A Slack webhook and the key of write-backs</Accordion.Control>
          <Accordion.Panel>
            <SchemaForm
              {...props}
              isNew={false}
              kind="agent"
              fields={OTHERS}
              onEdit={({ after }) => {
                others.current = after
                told(draft)
              }}
            />
          </Accordion.Panel>
        </Accordion.Item>
      </Accordion>
    </Stack>
  )
}

/** What the form declares; blank is how an agent is without a field. Wiring is edited as connections. */
function specOf(draft: AgentDraft): Fields {
  const { name: _name, trigger: _trigger, handoffs: _handoffs, ...spec } = writeOf(draft, draft)
  return Object.fromEntries(
    Object.entries(spec).filter(
      ([, value]) =>
        value !== '' && value !== false && value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  )
}
