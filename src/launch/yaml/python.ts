/** Types of plain YAML scalars as PyYAML's `safe_load` reads them (YAML 1.1, resolver.py and constructor.py of PyYAML 6). */
import type { Scalar } from 'yaml';
import type { OptionValue } from '../../core/engines/option';

const BOOLEANS: Readonly<Record<string, boolean>> = {
  yes: true,
  true: true,
  on: true,
  no: false,
  false: false,
  off: false,
};

const INT =
  /^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;

/** A point is needed, and an exponent needs its sign: `1e4` and `1.0e4` are text. */
const FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$/;

/** Only a quoted or tagged scalar is text whatever it says. */
export function pythonValue(scalar: Scalar): OptionValue {
  const text = String(scalar.value ?? '');
  return scalar.type === 'PLAIN' && scalar.tag === undefined ? plainValue(text) : text;
}

export function plainValue(text: string): OptionValue {
  if (text === '' || text === '~' || /^(?:null|Null|NULL)$/.test(text)) {
    return null;
  }
  const boolean = BOOLEANS[text.toLowerCase()];
  if (boolean !== undefined && /^(?:[a-z]+|[A-Z][a-z]*|[A-Z]+)$/.test(text)) {
    return boolean;
  }
  if (INT.test(text)) {
    return signed(text, intOf);
  }
  return FLOAT.test(text) ? signed(text, floatOf) : text;
}

function signed(text: string, read: (digits: string) => number): OptionValue {
  const value = read(text.replaceAll('_', '').replace(/^[-+]/, ''));
  if (Number.isNaN(value)) {
    return text;
  }
  return text.startsWith('-') && value !== 0 ? -value : value;
}

function intOf(digits: string): number {
  if (digits.includes(':')) {
    return sexagesimal(digits);
  }
  if (/^0[bx]/.test(digits)) {
    return Number(digits);
  }
  return digits.startsWith('0') ? Number.parseInt(digits, 8) : Number(digits);
}

const floatOf = (digits: string): number => (digits.includes(':') ? sexagesimal(digits) : Number(digits));

const sexagesimal = (digits: string): number => digits.split(':').reduce((sum, d) => sum * 60 + Number(d), 0);

/** Python's `str(value)` of a scalar: a float keeps its point, `1.0`. */
export function scalarPythonText(scalar: Scalar): string {
  const value = pythonValue(scalar);
  const float = typeof value === 'number' && Number.isInteger(value) && String(scalar.value).includes('.');
  return float ? `${value}.0` : pythonText(value);
}

/** Python's `str(value)`, and JSON for a map. */
export function pythonText(value: OptionValue): string {
  if (value === null) {
    return 'None';
  }
  if (typeof value === 'boolean') {
    return value ? 'True' : 'False';
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
