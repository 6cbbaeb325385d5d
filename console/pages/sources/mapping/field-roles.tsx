/** The fields of payloads: clicking one sets its role. */
import { Badge, Button, Text, UnstyledButton } from '@mantine/core'
import { useId, useRef, useState } from 'react'
import type { ProposedField, ProposedRole } from '../../../../schemas/types.ts'
import { ROLES, type Role, rolesOf, withRole } from '../../../lib/mapping.ts'

interface Props {
  fields: readonly ProposedField[]
  /** What was proposed, with its reasons. */
  proposed: readonly ProposedRole[]
  config: Record<string, unknown>
  onChange: (config: Record<string, unknown>) => void
}

const SHOWN = 12

export function FieldRoles({ fields, proposed, config, onChange }: Props) {
  const [isAll, setAll] = useState(false)
  const [open, setOpen] = useState<string | null>(null)
  // By what was proposed: a row does not move while its role is chosen.
  const isProposed = ({ name }: ProposedField) => proposed.some(({ field }) => field === name)
  const ranked = [...fields].sort((a, b) => Number(isProposed(b)) - Number(isProposed(a)))
  const shown = isAll ? ranked : ranked.slice(0, Math.max(SHOWN, ranked.filter(isProposed).length))
  return (
    <div>
      <Text fw={600} size="sm">
        Fields
      </Text>
      <Text size="xs" c="dimmed" mb={6}>
        Click a field to set its role.
      </Text>
      <ul className="field-roles" aria-label="Fields of the payload">
        {shown.map((field) => (
          <li key={field.name}>
            <FieldRole
              field={field}
              why={proposed.filter((one) => one.field === field.name)}
              roles={rolesOf(config, field.name)}
              isOpen={open === field.name}
              onOpen={(isOpen) => setOpen(isOpen ? field.name : null)}
              onPick={(role) => onChange(withRole(config, field.name, role))}
            />
          </li>
        ))}
      </ul>
      {ranked.length > shown.length && (
        <Button size="compact-sm" variant="default" mt="xs" onClick={() => setAll(true)}>
          Show all {ranked.length} fields
        </Button>
      )}
    </div>
  )
}

const reasonOf = ({ reason, format }: ProposedRole): string =>
  format && !reason.includes(format) ? `${reason}, ${format}` : reason

interface OneProps {
  field: ProposedField
  why: readonly ProposedRole[]
  roles: readonly Role[]
  isOpen: boolean
  onOpen: (isOpen: boolean) => void
  onPick: (role: Role) => void
}

function FieldRole({ field, why, roles, isOpen, onOpen, onPick }: OneProps) {
  const choices = useId()
  const button = useRef<HTMLButtonElement>(null)
  const words = ROLES.filter(({ role }) => roles.includes(role)).map(({ word }) => word)
  const sure = why.find(({ role }) => roles.includes(role as Role))
  return (
    <>
      <UnstyledButton
        ref={button}
        className="field-role"
        aria-expanded={isOpen}
        aria-controls={choices}
        aria-label={`${field.name}: ${words.join(', ') || 'no role'}, for example ${field.example}`}
        onClick={() => onOpen(!isOpen)}
      >
        <span className="mono field-name">{field.name}</span>
        <span className="field-marks">
          {words.map((word) => (
            <Badge key={word} size="sm" variant="light" tt="none">
              {word}
            </Badge>
          ))}
          {sure && (
            <Text size="xs" c="dimmed" component="span">
              {Math.round(sure.coverage * 100)} %, {sure.confidence} confidence
            </Text>
          )}
        </span>
        <span className="field-said">
          <span className="field-example">{field.example}</span>
          {sure && <span className="field-why">{reasonOf(sure)}</span>}
        </span>
      </UnstyledButton>
      <fieldset
        id={choices}
        hidden={!isOpen}
        aria-label={`Role of ${field.name}`}
        className="field-choices"
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onOpen(false)
          button.current?.focus()
        }}
      >
        {ROLES.map(({ role, word, help }) => (
          <Button
            key={role}
            size="compact-sm"
            variant={roles.includes(role) ? 'filled' : 'default'}
            aria-pressed={roles.includes(role)}
            title={help}
            onClick={() => onPick(role)}
          >
            {word}
          </Button>
        ))}
      </fieldset>
    </>
  )
}
