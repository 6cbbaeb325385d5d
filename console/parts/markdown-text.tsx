/** Markdown as text: no raw HTML, no images, links only to web, mail and this site. */
import { Typography } from '@mantine/core'
import Markdown from 'markdown-to-jsx'
import type { ComponentProps } from 'react'
import { Link } from 'react-router'
import { drawnText } from '../lighter/jsx-runtime.ts'

const SAFE_LINK = /^(https?:\/\/|mailto:|\/(?!\/)|#)/i

export interface MarkdownProps {
  text: string
  /** Below a heading of its own page: its headings come under that. */
  isNested?: boolean
  /** Where a link of the text leads here; null: nowhere, and it is text. Absent: where it says. */
  linkTo?: (href: string) => string | null
}

const NESTED = Object.fromEntries(
  ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((heading) => [heading, { component: 'h3' }]),
)

/** The kit makes elements itself, not by JSX: what turns text around is taken out before. */
export function MarkdownText({ text, isNested = false, linkTo = (href) => href }: MarkdownProps) {
  return (
    <Typography style={{ overflowWrap: 'anywhere' }}>
      <Markdown
        options={{
          disableParsingRawHTML: true,
          // Elements alone: text in an element of its own when it is one line would change as it grows.
          forceBlock: true,
          sanitizer: (value, _tag, attribute) => {
            const href = attribute === 'href' ? linkTo(value) : null
            return href !== null && SAFE_LINK.test(href) ? href : null
          },
          overrides: {
            ...(isNested ? NESTED : {}),
            img: { component: ({ alt }: { alt?: string }) => <span>{alt}</span> },
            a: { component: SafeLink },
            table: { component: WideTable },
            pre: { component: Block },
          },
        }}
      >
        {drawnText(text)}
      </Markdown>
    </Typography>
  )
}

/** A page of this site opens here, a heading is gone to, any other opens in a tab of its own. */
function SafeLink({ href, children }: ComponentProps<'a'>) {
  if (!href) return <span>{children}</span>
  if (href.startsWith('/')) return <Link to={href}>{children}</Link>
  if (href.startsWith('#')) return <a href={href}>{children}</a>
  return (
    <a href={href} rel="noopener noreferrer" target="_blank">
      {children}
    </a>
  )
}

/** What is wider than its column moves in it, also by keys. */
function WideTable({ children }: ComponentProps<'table'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys.
    <div className="text-table" tabIndex={0}>
      <table>{children}</table>
    </div>
  )
}

function Block({ children }: ComponentProps<'pre'>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no pointer scrolls it by keys.
    <pre tabIndex={0}>{children}</pre>
  )
}
