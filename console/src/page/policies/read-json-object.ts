type Json = string | number | boolean | null | Json[] | { [key: string]: Json }

/** The JSON object that a text holds; null if it holds none. */
export function readJsonObject(text: string): { [key: string]: Json } | null {
  try {
    const value = JSON.parse(text) as Json
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
