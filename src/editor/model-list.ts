/** The models a person can pick from. */
import { modelIds } from '../core/model/catalogue';

export const modelChoices = (): string[] => modelIds().sort((a, b) => a.localeCompare(b));
