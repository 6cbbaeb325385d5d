/** The fields of payloads: clicking one sets its role. */
import { Badge, Button, Menu, Text, UnstyledButton } from '@mantine/core'
import { Check } from 'lucide-react'
import { useState } from 'react'
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
  const ranked = [...fields].sort((a, b) => Number(hasRole(config, b)) - Number(hasRole(config, a)))
  const shown = isAll
    ? ranked
    : ranked.slice(0, Math.max(SHOWN, ranked.filter((one) => hasRole(config, one)).length))
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

const hasRole = (config: Record<string, unknown>, { name }: ProposedField): boolean =>
  rolesOf(config, name).length > 0

interface OneProps {
  field: ProposedField
  why: readonly ProposedRole[]
  roles: readonly Role[]
  onPick: (role: Role) => void
}

function FieldRole({ field, why, roles, onPick }: OneProps) {
  const words = ROLES.filter(({ role }) => roles.includes(role)).map(({ word }) => word)
  const sure = why.find(({ role }) => roles.includes(role as Role))
  return (
    <Menu position="bottom-start" withinPortal>
      <Menu.Target>
        <UnstyledButton
          className="field-role"
          aria-label={`${field.name}: ${words.join(', ') || 'no role'}, for example ${field.example}`}
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
          <Text size="xs" c="dimmed" component="span" className="field-example">
            {field.example}
          </Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {why.map(({ role, reason, format }) => (
          <Menu.Label key={role}>
            {reason}
            {format && !reason.includes(format) ? ` (${format})` : ''}
          </Menu.Label>
        ))}
        {ROLES.map(({ role, word, help }) => (
          <Menu.Item
            key={role}
            role="menuitemcheckbox"
            aria-checked={roles.includes(role)}
            rightSection={roles.includes(role) ? <Check size={14} aria-hidden /> : null}
            onClick={() => onPick(role)}
          >
            {word}
            <Text size="xs" c="dimmed" component="span" ml={8}>
              {help}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
