/** What one should know before applying: others changed the project, or the file is the source of truth. */
import { Alert, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { FileText, Users } from 'lucide-react'
import { callerText } from '../../../../schemas/caller-words.ts'
import { declared, dkeys } from '../../../declared-client.ts'
import type { Editor } from '../state/use-editor.ts'
import { YamlButtons } from './patch-view.tsx'

/** Who changed the project since the draft began. */
export function ChangedSince({ editor: { draft, live, preview } }: { editor: Editor }) {
  const base = draft?.base ?? live.version
  const { data } = useQuery({
    queryKey: [...dkeys.changes(live.project.id), 'since', live.version],
    queryFn: () => declared.changes({ project: live.project.id }),
    enabled: live.version > base,
  })
  const since = (data?.change_sets ?? []).filter(({ id }) => id > base)
  if (live.version <= base || since.length === 0) return null
  const who = [...new Set(since.map(({ actor }) => callerText(actor)))]
  const { answer, error } = preview
  const merges = answer && !error && answer.conflicts.length === 0 && answer.problems.length === 0
  return (
    <Alert
      color="blue"
      role="status"
      icon={<Users size={18} aria-hidden />}
      title={`Changed by ${who.join(', ')} since`}
    >
      <Text size="sm">
        {since
          .slice(0, 3)
          .map(({ summary }) => summary)
          .join('; ')}
        {since.length > 3 && `; and ${since.length - 3} more`}.
        {merges && ' Your draft fits: applying it keeps both.'}
      </Text>
    </Alert>
  )
}

/** With SVC_CATALOG_SYNC the file is imported at every start: what contradicts it does not last. */
export function FileIsTruth({ editor: { preview, draft } }: { editor: Editor }) {
  const yaml = preview.answer?.yaml
  return (
    <Alert
      color="indigo"
      mt="sm"
      icon={<FileText size={18} aria-hidden />}
      title="The catalog file is the source of truth"
    >
      <Text size="sm" mb={draft ? 'xs' : 0}>
        It is imported at every start, and what it says holds then. Take the draft as a patch, run “git apply”
        where the file is kept, and commit it; comments and order stay.
      </Text>
      {draft && yaml && yaml.patch !== '' && <YamlButtons yaml={yaml} />}
    </Alert>
  )
}
