/** Text into HTML and SVG: names of variants and reasons of failures come from elsewhere and may hold anything. */
const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Fit for the content of an element and for an attribute in quotes. */
export const escapeText = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
