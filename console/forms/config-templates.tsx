/** How a form made from a schema looks where the kit's own way is larger or says less: texts and lists. */
import { ActionIcon, Button, Text } from '@mantine/core'
import {
  type ArrayFieldTitleProps,
  type DescriptionFieldProps,
  type FieldErrorProps,
  type IconButtonProps,
  type TemplatesType,
  type TitleFieldProps,
  titleId,
} from '@rjsf/utils'
import { Plus, X } from 'lucide-react'

function Description({ id, description }: DescriptionFieldProps) {
  if (!description) return null
  return (
    <Text id={id} size="xs" c="dimmed" mb={6}>
      {description}
    </Text>
  )
}

/** No heading: how deep it would be depends on the page around the form. */
function NestedTitle({ id, title }: TitleFieldProps) {
  return title ? (
    <Text id={id} fw={700} size="sm" mb={4}>
      {title}
    </Text>
  ) : null
}

/** Of a list or a group as a whole: an input says its own. */
function WholeFault({ errors = [], schema }: FieldErrorProps) {
  if (errors.length === 0 || (schema.type !== 'array' && schema.type !== 'object')) return null
  return (
    <Text size="sm" c="var(--mantine-color-error)">
      {errors.map((error) => (
        <span key={String(error)}>{error}</span>
      ))}
    </Text>
  )
}

/** The legend of a list. */
function ListTitle({ fieldPathId, title }: ArrayFieldTitleProps) {
  return title ? (
    <Text id={titleId(fieldPathId)} fw={600}>
      {title}
    </Text>
  ) : null
}

/** A list grows by an entry, a map by a name and its value. */
function Add({ onClick, disabled, id, className }: IconButtonProps) {
  return (
    <Button
      id={id}
      size="compact-sm"
      variant="default"
      leftSection={<Plus size={14} aria-hidden />}
      disabled={disabled ?? false}
      onClick={onClick}
    >
      {className?.includes('property') ? 'Add a field' : 'Add another'}
    </Button>
  )
}

function Remove({ onClick, disabled, id }: IconButtonProps) {
  return (
    <ActionIcon
      id={id}
      variant="subtle"
      color="gray"
      aria-label="Remove this entry"
      disabled={disabled ?? false}
      onClick={onClick}
    >
      <X size={16} aria-hidden />
    </ActionIcon>
  )
}

// Those of the kit stand for the others, and take what these leave out.
export const configTemplates = {
  DescriptionFieldTemplate: Description,
  TitleFieldTemplate: NestedTitle,
  FieldErrorTemplate: WholeFault,
  ArrayFieldTitleTemplate: ListTitle,
  ButtonTemplates: { AddButton: Add, RemoveButton: Remove },
} as unknown as Partial<TemplatesType>
