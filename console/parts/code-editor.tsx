/** A text editor with the theme of the page, for YAML and Markdown; problems are underlined. */

import { markdown } from '@codemirror/lang-markdown'
import { yaml } from '@codemirror/lang-yaml'
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint'
import { useComputedColorScheme } from '@mantine/core'
import CodeMirror, { EditorView, Prec, type ReactCodeMirrorRef } from '@uiw/react-codemirror'
import type { Ref } from 'react'
import { useEffect, useImperativeHandle, useRef } from 'react'

export interface EditorProblem {
  line: number
  column: number
  end_line?: number | undefined
  end_column?: number | undefined
  message: string
}

export interface EditorPlace {
  /** Moves the cursor to a line and column, from 1, and shows it. */
  goTo(line: number, column: number): void
}

interface Props {
  value: string
  onChange: (value: string) => void
  language: 'yaml' | 'markdown'
  label: string
  height?: string
  problems?: readonly EditorProblem[]
  place?: Ref<EditorPlace>
}

/** The page's own colours: those of the editor's dark theme are too faint on it for small text. */
const PAGE_COLOURS = Prec.highest(
  EditorView.theme({
    '&.cm-editor': { backgroundColor: 'var(--mantine-color-body)' },
    '&:focus-within': { outline: '2px solid var(--accent)', outlineOffset: '-2px', borderRadius: '8px' },
    '.cm-gutters': {
      backgroundColor: 'var(--mantine-color-body)',
      color: 'var(--mantine-color-dimmed)',
      borderRight: '1px solid var(--mantine-color-default-border)',
    },
  }),
)

export default function CodeEditor({
  value,
  onChange,
  language,
  label,
  height = '420px',
  problems,
  place,
}: Props) {
  const scheme = useComputedColorScheme('light')
  const editor = useRef<ReactCodeMirrorRef>(null)
  useEffect(() => {
    const view = editor.current?.view
    if (view)
      view.dispatch(
        setDiagnostics(
          view.state,
          (problems ?? []).map((problem) => diagnosticOf(view, problem)),
        ),
      )
  }, [problems])
  useImperativeHandle(place, () => ({
    goTo: (line, column) => {
      const view = editor.current?.view
      if (!view) return
      const at = offsetOf(view, line, column)
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: 'center' }) })
      view.focus()
    },
  }))
  return (
    <CodeMirror
      ref={editor}
      value={value}
      onChange={onChange}
      onCreateEditor={(view) => {
        // Reached and scrolled by keyboard.
        view.scrollDOM.tabIndex = 0
      }}
      height={height}
      theme={scheme}
      extensions={[
        language === 'yaml' ? yaml() : markdown(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ 'aria-label': label }),
        lintGutter(),
        PAGE_COLOURS,
      ]}
      basicSetup={{ foldGutter: language === 'yaml', tabSize: 2 }}
      // Tab leaves the editor: the page stays reachable by keyboard.
      indentWithTab={false}
      style={{
        border: '1px solid var(--mantine-color-default-border)',
        borderRadius: 8,
        overflow: 'hidden',
        fontSize: 13,
      }}
    />
  )
}

function offsetOf(view: EditorView, line: number, column: number): number {
  const { doc } = view.state
  const row = doc.line(Math.min(Math.max(1, line), doc.lines))
  return Math.min(row.from + Math.max(0, column - 1), row.to)
}

function diagnosticOf(view: EditorView, problem: EditorProblem): Diagnostic {
  const from = offsetOf(view, problem.line, problem.column)
  const to = problem.end_line ? offsetOf(view, problem.end_line, problem.end_column ?? 1) : from
  return { from, to: Math.max(from, to), severity: 'error', message: problem.message }
}
