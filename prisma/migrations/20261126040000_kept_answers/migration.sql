ALTER TYPE "file_purpose" ADD VALUE 'answer';
