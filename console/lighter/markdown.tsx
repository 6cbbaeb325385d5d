/** In place of a parser of Markdown in the form kit, which only its own words of a fault are written in. */

/** @returns the text without its marks: backticks, stars, underscores round a word */
export const Markdown = ({ children }: { children: string }) => <>{withoutMarks(children)}</>

export const withoutMarks = (text: string): string =>
  text.replaceAll(/(`|\*\*|\*|(?<!\w)_|_(?!\w))(\S(?:.*?\S)?)\1/g, '$2')
