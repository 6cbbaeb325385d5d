/** A field of a config that names repositories: those of the credential that is chosen are offered, others may be typed. */
import { Autocomplete, TagsInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import type { FieldProps } from '@rjsf/utils'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { CREDENTIALS, credentials } from '../credentials-client.ts'

const WAIT_MS = 250

/** Repositories of a credential whose name has this in it, and what to say of them. @param credential empty: none */
function useRepositories(credential: string, typed: string): { names: string[]; hint: string } {
  const [query] = useDebouncedValue(typed.trim(), WAIT_MS)
  const { data, error } = useQuery({
    queryKey: [...CREDENTIALS, credential, 'repositories', query],
    queryFn: () => credentials.repositories(credential, query),
    enabled: credential !== '',
    retry: false,
    staleTime: 60_000,
  })
  if (credential === '') return { names: [], hint: 'With a credential its repositories are offered here.' }
  if (error) return { names: [], hint: `Its repositories cannot be listed: ${error.message}` }
  return {
    names: (data?.repos ?? []).map(({ repo }) => repo),
    hint: data?.more ? 'There are more repositories than are offered: type a part of the name.' : '',
  }
}

const credentialIn = ({ formContext }: FieldProps['registry']): string => {
  const { credential } = (formContext ?? {}) as { credential?: unknown }
  return typeof credential === 'string' ? credential : ''
}

/** One repository. */
export function RepositoryField({
  schema,
  formData,
  onChange,
  fieldPathId,
  rawErrors,
  registry,
  required,
}: FieldProps) {
  const value = typeof formData === 'string' ? formData : ''
  const { names, hint } = useRepositories(credentialIn(registry), value)
  return (
    <Autocomplete
      id={fieldPathId.$id}
      label={schema.title ?? 'Repository'}
      description={[schema.description, hint].filter(Boolean).join(' ')}
      data={names}
      value={value}
      onChange={(name) => onChange(name === '' ? undefined : name, fieldPathId.path)}
      error={rawErrors?.[0]}
      required={required ?? false}
    />
  )
}

/** Several of them. */
export function RepositoriesField({
  schema,
  formData,
  onChange,
  fieldPathId,
  rawErrors,
  registry,
}: FieldProps) {
  const [typed, setTyped] = useState('')
  const value = Array.isArray(formData)
    ? formData.filter((one): one is string => typeof one === 'string')
    : []
  const { names, hint } = useRepositories(credentialIn(registry), typed)
  return (
    <TagsInput
      id={fieldPathId.$id}
      label={schema.title ?? 'Repositories'}
      description={[schema.description, hint].filter(Boolean).join(' ')}
      data={names}
      value={value}
      searchValue={typed}
      onSearchChange={setTyped}
      onChange={(chosen) => onChange(chosen.length === 0 ? undefined : chosen, fieldPathId.path)}
      error={rawErrors?.[0]}
    />
  )
}
